"""What an instructor does around the marking: hand out, collect, and give marks back.

- `bundle`, `student_files`: what students receive
"""
