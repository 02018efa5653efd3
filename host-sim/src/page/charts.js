// A page of charts and nothing else.
for (const spec of data.charts) {
  const chart = new LineChart(spec);
  if (spec.series.length > 1) chart.svg.before(LineChart.key([chart]));
  document.getElementById("charts").append(chart.figure);
}
