// A page of charts: one legend per chart.
const charts = [...document.querySelectorAll(".chart")].map((figure, index) => new LineChart(figure, data.charts[index]));
for (const chart of charts) if (chart.spec.series.length > 1) chart.frame.before(LineChart.legend([chart]));
