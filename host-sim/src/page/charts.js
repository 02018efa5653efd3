// A page of charts and nothing else.
for (const spec of data.charts) document.getElementById("charts").append(new LineChart(spec).figure);
