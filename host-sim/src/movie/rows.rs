//! What is compared: the rows of the table, their names, and the paper's figures for them.

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Both parts, offline.
    WideAndDeep,
    /// The deep part alone.
    Gnn,
    /// The wide part alone.
    GraphFilter,
    /// Both parts; the wide one takes so many steps per user.
    Online(u32),
    /// The same with the wide part's bias.
    OnlineBias(u32),
    /// One step per user, taken by the node that is told the rating, and consensus among all nodes.
    Decentralised,
    /// The mean rating of the training users.
    Constant,
    /// The mean of the ratings seen so far online.
    RunningMean,
}

impl Row {
    /// The rows in the table's order.
    #[must_use]
    pub fn all(adapt_bias: bool) -> Vec<Self> {
        let mut rows = vec![Self::WideAndDeep, Self::Gnn, Self::GraphFilter];
        rows.extend((1..=3).map(Self::Online));
        if adapt_bias {
            rows.extend((1..=3).map(Self::OnlineBias));
        }
        rows.extend([Self::Decentralised, Self::Constant, Self::RunningMean]);
        rows
    }

    /// Its name in tables and files.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::WideAndDeep => "wd-gnn".into(),
            Self::Gnn => "gnn".into(),
            Self::GraphFilter => "graph-filter".into(),
            Self::Online(steps) => format!("online-{steps}"),
            Self::OnlineBias(steps) => format!("online-{steps}-bias"),
            Self::Decentralised => "decentralised".into(),
            Self::Constant => "constant".into(),
            Self::RunningMean => "running-mean".into(),
        }
    }

    /// The paper's Table 3: same movie, other movie.
    #[must_use]
    pub fn paper(self) -> Option<(f64, f64)> {
        match self {
            Self::WideAndDeep => Some((0.8535, 1.0920)),
            Self::Gnn => Some((0.8630, 1.0889)),
            Self::GraphFilter => Some((0.8589, 1.0950)),
            Self::Online(1) => Some((0.8524, 0.9759)),
            Self::Online(2) => Some((0.8442, 0.9815)),
            Self::Online(3) => Some((0.8585, 0.9909)),
            _ => None,
        }
    }

    /// Whether it is in the JSON, whose rows are those of the paper, the baselines, and what was asked for.
    #[must_use]
    pub fn in_json(self) -> bool {
        self != Self::Decentralised
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_rows_share_a_name() {
        let mut names: Vec<String> = Row::all(true).into_iter().map(Row::name).collect();
        assert_eq!(names.len(), 12);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 12);
    }
}
