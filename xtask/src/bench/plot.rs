//! Throughput and p99 over the number of connections, as SVG.

use super::load::{Cell, Job};
use super::report::Results;
use crate::server::Kind;
use anyhow::anyhow;
use plotters::prelude::*;

/// Draws both jobs side by side, throughput above p99.
pub fn svg(results: &Results) -> anyhow::Result<String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, (1_000, 760)).into_drawing_area();
        area.fill(&WHITE).map_err(|error| anyhow!("{error}"))?;
        let panels = area.split_evenly((2, 2));
        for (column, job) in Job::ALL.into_iter().enumerate() {
            let title = format!("{}: requests/s", job.name());
            panel(&panels[column], &title, results, job, |cell| cell.rps)?;
            let title = format!("{}: p99 in ms", job.name());
            panel(&panels[2 + column], &title, results, job, |cell| cell.p99_ms)?;
        }
        area.present().map_err(|error| anyhow!("{error}"))?;
    }
    Ok(text)
}

fn panel<DB: DrawingBackend>(
    area: &DrawingArea<DB, plotters::coord::Shift>,
    title: &str,
    results: &Results,
    job: Job,
    figure: fn(&Cell) -> f64,
) -> anyhow::Result<()> {
    let failed = |error: &dyn std::fmt::Display| anyhow!("the plot cannot be drawn: {error}");
    let connections = results.connections();
    let most = *connections.last().expect("a benchmark has connections") as f64;
    let highest = Kind::ALL
        .into_iter()
        .flat_map(|kind| connections.iter().map(move |&n| (kind, n)))
        .map(|(kind, n)| results.median(kind, job, n, figure))
        .fold(0.0, f64::max);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(30)
        .y_label_area_size(60)
        .build_cartesian_2d((1.0..most.max(2.0)).log_scale(), 0.0..highest.max(1.0) * 1.1)
        .map_err(|error| failed(&error))?;
    chart.configure_mesh().x_desc("connections").draw().map_err(|error| failed(&error))?;
    for (kind, colour) in Kind::ALL.into_iter().zip([RED, BLUE, GREEN]) {
        let points = connections.iter().map(|&n| (n as f64, results.median(kind, job, n, figure)));
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))
            .map_err(|error| failed(&error))?
            .label(kind.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart.configure_series_labels().border_style(BLACK.mix(0.3)).draw().map_err(|error| failed(&error))
}
