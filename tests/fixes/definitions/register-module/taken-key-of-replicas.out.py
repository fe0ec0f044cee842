refused: the replicas of DataParallel would share what the dict holds
