refused: the line moves nothing that has a name
