refused: nothing there turns offloading on
