refused: the edited file would be no Python
