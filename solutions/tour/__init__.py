"""What transformer.ipynb shows, apart from your own functions. Nothing here is graded, and you need not read it.

stage      show() and play() put pictures and tables into the notebook, play() with sliders above them
guesses    predict() asks before a picture, which waits for your guess
known      whether your functions give the right numbers
tables     tables of numbers, those that a lecture prints beside yours
pictures   the pictures: each draws with the functions of yours that it is given
brushes    what all pictures are painted with: colours, axes, tables of colour, arrows
examples   tiny networks to look at
names      a small trained model of first names, in the parameters of your decoder
training   training the last layer of that model on names of your own
"""

from tour.guesses import predict, show_all
from tour.stage import Lazy, Slide, play, show
from tour.tables import compare, measure, numbers, table

__all__ = ["Lazy", "Slide", "compare", "measure", "numbers", "play", "predict", "show", "show_all", "table"]
