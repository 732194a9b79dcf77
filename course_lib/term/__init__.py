"""What an instructor does around the marking: hand out, collect, and give marks back.

- `bundle`, `student_files`, `imports`: what students receive
- `collect`, `archives`, `platforms`, `roster`: what a class handed in elsewhere
- `marks`, `tables`, `feedback`: marks and feedback, as others take them
- `report`, `report_page`, `report_figures`: what marks tell those who teach
- `items`, `named`, `teach`, `alike`, `newer`: what a report is made of
- `overview`, `overview_page`, `taught`, `chapters`: the map from goals to mistakes
- `pages`: what both pages share
- `exchange`: feedback through nbgrader's exchange
- `late`: what lateness costs
- `packing`: archives that are the same each time
"""
