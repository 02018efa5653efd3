// A page of charts: one legend per chart.
for (const chart of charts) if (chart.spec.series.length > 1) chart.frame.before(LineChart.legend([chart]));
