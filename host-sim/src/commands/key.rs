//! `host-sim key`: operator keys and key update frames.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand};
use wdgnn_core::task::NodeId;
use wdgnn_link::{
    encoding::half::MAX_TAG_LEN,
    security::{
        aes::Aes,
        key::Key,
        key_update::{self, KeyUpdate},
        managed_keys::ROSTER_CAPACITY,
    },
};

use crate::{
    error::{Error, Result},
    files, key,
    option_range::OptionRange,
    profiles::Profile,
};

/// Range of the number of robots with keys. Addresses have 16 bits.
const ROBOTS: OptionRange = OptionRange::whole(1, 65_535);

/// Create operator keys and the frames that distribute a new swarm key.
///
/// The master key stays with the operator: it determines the personal key of each robot and the
/// swarm key of each epoch. A key update to a new epoch excludes captured robots.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  host-sim key master --out master.key\n  \
                  host-sim key swarm --master master.key --epoch 0 --out swarm.key\n  \
                  host-sim key robots --master master.key --robots 10 --out keys\n  \
                  firmware/provision.py --board nrf52840 --robots 0-9 --key swarm.key --personal-keys keys --flash\n  \
                  host-sim key rekey --master master.key --robots 10 --expel 3 --epoch 1 --at 60000 --out rekey.txt")]
pub struct KeyArguments {
    #[command(subcommand)]
    what: KeyCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum KeyCommand {
    /// Create a random master key.
    Master {
        /// File to create; existing files are kept.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Derive the swarm key of an epoch.
    Swarm {
        /// Master key.
        #[arg(long, value_name = "FILE")]
        master: PathBuf,
        /// Key epoch; robots are provisioned with epoch 0.
        #[arg(long, value_name = "N", default_value_t = 0, value_parser = OptionRange::whole(0, u8::MAX as u64).parser::<u8>())]
        epoch: u8,
        /// File to create; existing files are kept.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Derive the personal key of each robot, and the keys by which it authenticates its peers.
    Robots {
        /// Master key.
        #[arg(long, value_name = "FILE")]
        master: PathBuf,
        /// Number of robots; their ids start at 0.
        #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<NodeId>())]
        robots: NodeId,
        /// Folder for the key files; existing files are kept.
        #[arg(long, value_name = "FOLDER")]
        out: PathBuf,
    },
    /// Create the key update frames in hexadecimal digits, one per remaining robot.
    Rekey {
        /// Master key.
        #[arg(long, value_name = "FILE")]
        master: PathBuf,
        /// Number of robots; their ids start at 0.
        #[arg(long, value_name = "N", value_parser = ROBOTS.parser::<NodeId>())]
        robots: NodeId,
        /// Robot to exclude (repeatable).
        #[arg(long, value_name = "ROBOT", value_parser = OptionRange::whole(0, u16::MAX as u64).parser::<NodeId>())]
        expel: Vec<NodeId>,
        /// New key epoch: the current one plus 1.
        #[arg(long, value_name = "N", value_parser = OptionRange::whole(1, u8::MAX as u64).parser::<u8>())]
        epoch: u8,
        /// Swarm tick at which the new key becomes active.
        #[arg(long, value_name = "TICK", value_parser = OptionRange::whole(0, u32::MAX as u64).parser::<u32>())]
        at: u32,
        /// Link profile: exact, dot154, esb32, espnow or p2p57.
        #[arg(long, value_enum, default_value = "dot154", hide_possible_values = true)]
        profile: Profile,
        /// File to create; existing files are kept.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

impl KeyArguments {
    /// Creates the keys or frames.
    pub fn run(&self) -> Result {
        match &self.what {
            KeyCommand::Master { out } => {
                write_new(out, &digits(&random_key()?))?;
                println!("master key: {}; keep it offline", out.display());
            }
            KeyCommand::Swarm { master, epoch, out } => {
                write_new(out, &digits(&key_update::swarm_key(&key::read(master)?, *epoch)))?;
                println!("swarm key of epoch {epoch}: {}", out.display());
            }
            KeyCommand::Robots { master, robots, out } => {
                let master = key::read(master)?;
                if !out.is_dir() {
                    files::probe(out)?;
                    fs::create_dir(out).map_err(|source| Error::Write { path: out.clone(), source })?;
                }
                for name in 0..*robots {
                    let path = out.join(format!("robot-{name}.key"));
                    write_new(&path, &digits(&key_update::personal_key(&master, name)))?;
                    if usize::from(*robots) <= ROSTER_CAPACITY {
                        write_new(
                            &out.join(format!("robot-{name}.roster")),
                            &roster(&master, *robots, name),
                        )?;
                    }
                }
                println!("personal keys of {robots} robots: {}", out.display());
                if usize::from(*robots) > ROSTER_CAPACITY {
                    println!("no keys for peer authentication: it is limited to {ROSTER_CAPACITY} robots");
                }
            }
            KeyCommand::Rekey { master, robots, expel, epoch, at, profile, out } => {
                let master = key::read(master)?;
                let frames = frames(&master, *robots, expel, *epoch, *at, *profile)?;
                write_new(out, &frames.concat())?;
                println!(
                    "{} frames: {}; epoch {epoch} from tick {at} on, without {}",
                    frames.len(),
                    out.display(),
                    if expel.is_empty() { "exclusions".into() } else { names(expel) }
                );
            }
        }
        Ok(())
    }
}

/// Returns the key update frames of the remaining robots, one per line.
fn frames(
    master: &Key, robots: NodeId, expelled: &[NodeId], epoch: u8, at: u32, profile: Profile,
) -> Result<Vec<String>> {
    profile.check_robots(robots.into())?;
    if usize::from(robots) > ROSTER_CAPACITY {
        return Err(Error::usage(format!(
            "--robots must be at most {ROSTER_CAPACITY} for key updates, got {robots}"
        )));
    }
    if let Some(name) = expelled.iter().find(|name| **name >= robots) {
        return Err(Error::usage(format!("--expel names robot {name}: the robots are 0 to {}", robots - 1)));
    }
    let tag = if profile == Profile::Esb32 { 4 } else { MAX_TAG_LEN };
    let key = key_update::swarm_key(master, epoch);
    let frame = |name: NodeId| {
        let mut frame = vec![0; KeyUpdate::bytes(tag)];
        let personal = key_update::personal_key(master, name);
        KeyUpdate { name, epoch, at }.write(&personal, &key, tag, &mut frame).map(|_| digits(&frame))
    };
    Ok((0..robots).filter(|name| !expelled.contains(name)).filter_map(frame).collect())
}

/// Returns the keys by which a robot authenticates its peers, one per line.
fn roster(master: &Key, robots: NodeId, name: NodeId) -> String {
    let key = |from| digits(&key_update::pair_key::<Aes>(&key_update::personal_key(master, from), name));
    (0..robots).map(key).collect()
}

fn names(robots: &[NodeId]) -> String {
    robots.iter().map(|name| format!("robot {name}")).collect::<Vec<_>>().join(", ")
}

/// Returns 16 random bytes of the system.
fn random_key() -> Result<Key> {
    let path = Path::new("/dev/urandom");
    let mut key = [0; 16];
    File::open(path)
        .and_then(|mut file| file.read_exact(&mut key))
        .map_err(|source| Error::Read { path: path.into(), source })?;
    Ok(key)
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).chain(["\n".into()]).collect()
}

/// Writes a file that only its owner can read. Existing files are kept: a key file may be the only
/// copy.
fn write_new(path: &Path, content: &str) -> Result {
    if path.exists() {
        return Err(Error::usage(format!(
            "{} exists, and key files are never replaced: name another file",
            path.display()
        )));
    }
    files::probe(path)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .and_then(|mut file| file.write_all(content.as_bytes()))
        .map_err(|source| Error::Write { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_updates_have_one_frame_per_remaining_robot() {
        for &profile in Profile::ALL {
            let frames = frames(&[7; 16], 10, &[3], 1, 600, profile).unwrap();
            assert_eq!(frames.len(), 9);
            let tag = if profile == Profile::Esb32 { 4 } else { 8 };
            assert!(frames.iter().all(|frame| frame.len() == 2 * KeyUpdate::bytes(tag) + 1));
            assert!(KeyUpdate::bytes(tag) <= if profile == Profile::Esb32 { 32 } else { 57 });
        }
        let refused = |robots, expelled: &[NodeId]| {
            frames(&[7; 16], robots, expelled, 1, 600, Profile::Dot154).unwrap_err().to_string()
        };
        assert_eq!(refused(10, &[10]), "--expel names robot 10: the robots are 0 to 9");
        assert_eq!(refused(65, &[]), "--robots must be at most 64 for key updates, got 65");
    }
}
