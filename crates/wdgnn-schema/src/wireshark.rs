//! Wireshark dissector in Lua.

use super::{Field, Frame};

const HEAD: &str = r#"-- Radio frames of wdgnn, made by `host-sim schema --format wireshark`.
-- Copy this file into Wireshark's folder of personal Lua plugins. Dimensions are those of the flocking network.
-- Captures of link type 147 (USER0) have frames alone; captures of IEEE 802.15.4 have a slot byte before each frame.

local wdgnn = Proto("wdgnn", "WD-GNN radio frame")
local wdgnn_slot = Proto("wdgnn_slot", "WD-GNN slot")

-- Reads IEEE 754 binary16.
local function half(range)
    local bits = range:le_uint()
    local sign = bits >= 0x8000 and -1 or 1
    local exponent, mantissa = math.floor(bits / 1024) % 32, bits % 1024
    if exponent == 0 then
        return sign * mantissa / 16777216
    elseif exponent == 31 then
        return mantissa == 0 and sign * math.huge or 0 / 0
    end
    return sign * (1 + mantissa / 1024) * 2.0 ^ (exponent - 15)
end

-- Number of bytes of a type, and how to read it.
local kinds = {
    u8 = { 1, function(range) return range:le_uint() end },
    u16 = { 2, function(range) return range:le_uint() end },
    u24 = { 3, function(range) return range:le_uint() end },
    u32 = { 4, function(range) return range:le_uint() end },
    f16 = { 2, half },
    f32 = { 4, function(range) return range:le_float() end },
}

-- Fields that display filters can use.
local filters = {
    sender = ProtoField.uint16("wdgnn.sender", "sender"),
    boot = ProtoField.uint32("wdgnn.boot", "boot"),
    sequence = ProtoField.uint32("wdgnn.sequence", "sequence"),
    model = ProtoField.uint32("wdgnn.model", "model", base.HEX),
    degree = ProtoField.uint8("wdgnn.degree", "degree"),
    part = ProtoField.uint8("wdgnn.part", "part"),
    piece = ProtoField.uint8("wdgnn.piece", "piece"),
    robot = ProtoField.uint16("wdgnn.robot", "robot"),
    epoch = ProtoField.uint8("wdgnn.epoch", "epoch"),
    first_tick = ProtoField.uint32("wdgnn.first_tick", "first tick"),
}
local frame_type = ProtoField.string("wdgnn.frame", "frame")
local values = ProtoField.string("wdgnn.values", "values")
wdgnn.fields = { frame_type, values }
for _, field in pairs(filters) do
    table.insert(wdgnn.fields, field)
end

-- Per frame: name, first byte, length, fields (name, type, count; 0 for one number).
local frames = {
"#;

const TAIL: &str = r#"}

local function find(buffer)
    for _, frame in ipairs(frames) do
        if buffer(0, 1):uint() == frame[2] and buffer:len() == frame[3] then
            return frame
        end
    end
end

function wdgnn.dissector(buffer, packet, tree)
    if buffer:len() == 0 then
        return 0
    end
    packet.cols.protocol = "WD-GNN"
    local frame = find(buffer)
    if not frame then
        packet.cols.info = "frame of other dimensions"
        return 0
    end
    packet.cols.info = frame[1]
    local subtree = tree:add(wdgnn, buffer())
    subtree:add(frame_type, buffer(0, 1), frame[1])
    local offset = 0
    for _, field in ipairs(frame[4]) do
        local name, size, read = field[1], kinds[field[2]][1], kinds[field[2]][2]
        local count = math.max(field[3], 1)
        local range = buffer(offset, size * count)
        if filters[name] and field[3] == 0 then
            subtree:add_le(filters[name], range)
        else
            local numbers = {}
            for index = 0, count - 1 do
                numbers[index + 1] = string.format("%g", read(buffer(offset + size * index, size)))
            end
            local text = table.concat(numbers, " ")
            if size == 1 and field[3] > 0 then
                text = range:bytes():tohex()
            end
            subtree:add(values, range, text):set_text(name .. ": " .. text)
        end
        offset = offset + size * count
    end
    return offset
end

function wdgnn_slot.dissector(buffer, packet, tree)
    tree:add(wdgnn_slot, buffer(0, 1)):append_text(string.format(": 0x%02x", buffer(0, 1):uint()))
    return 1 + wdgnn.dissector(buffer(1):tvb(), packet, tree)
end

DissectorTable.get("wtap_encap"):add(wtap.USER0, wdgnn)
DissectorTable.get("wpan.panid"):add(0x5744, wdgnn_slot)
"#;

pub fn describe(frames: &[Frame]) -> String {
    let entries: String = frames.iter().map(entry).collect();
    format!("{HEAD}{entries}{TAIL}")
}

fn entry(frame: &Frame) -> String {
    let field = |field: &Field| {
        let count = if field.list { field.count } else { 0 };
        format!("        {{ \"{}\", \"{}\", {count} }},\n", field.name, field.kind.name())
    };
    let fields: String = frame.fields.iter().map(field).collect();
    let (name, first, bytes) = (frame.name, frame.first, frame.bytes);
    format!("    {{ \"{name}\", 0x{first:02x}, {bytes}, {{\n{fields}    }} }},\n")
}
