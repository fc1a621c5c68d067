"""Names of nh.systems for editors; written by tests/stubs.py from the table in __init__.py."""

# ruff: noqa (in the order of the names)

from .mechanics.catalogue import particle as particle
from .mechanics.catalogue import free_particle as free_particle
from .mechanics.catalogue import robot as robot
from .mechanics.catalogue import snakeboard as snakeboard
from .mechanics.catalogue import sleigh as sleigh
from .mechanics.catalogue import rolling_disk as rolling_disk
from .mechanics.catalogue import knife_edge as knife_edge
from .mechanics.catalogue import contact_oscillator as contact_oscillator
from .mechanics.catalogue import nonreversible as nonreversible
from .mechanics.catalogue import quartic as quartic
from .mechanics.catalogue import transmission as transmission
from .mechanics.catalogue import driven as driven
from .mechanics.catalogue import pendulum as pendulum
from .mechanics.catalogue import kepler as kepler
from .mechanics.catalogue import spherical_pendulum as spherical_pendulum
from .mechanics.catalogue import suslov as suslov
from .mechanics.catalogue import sleigh_se2 as sleigh_se2
from .mechanics.catalogue import ball as ball
from .mechanics.catalogue import ball_right as ball_right
from .mechanics.catalogue import rigid_body as rigid_body
from .mechanics.catalogue import rubber_ball as rubber_ball
from .mechanics.catalogue import roller_racer as roller_racer
from .mechanics.catalogue import car_with_trailer as car_with_trailer
from .mechanics.catalogue import two_wheeled_robot as two_wheeled_robot
from .mechanics.catalogue import segway as segway
from .mechanics.catalogue import tilted_disk as tilted_disk
from .mechanics.catalogue import ball_on_turntable as ball_on_turntable
from .mechanics.catalogue import rattleback as rattleback
from .mechanics.catalogue import bicycle as bicycle
from .mechanics.catalogue import catalogue as catalogue
from .mechanics.catalogue import machines as machines
from .mechanics.catalogue import on_groups as on_groups

__all__ = [
    "ball",
    "ball_on_turntable",
    "ball_right",
    "bicycle",
    "car_with_trailer",
    "catalogue",
    "contact_oscillator",
    "driven",
    "free_particle",
    "kepler",
    "knife_edge",
    "machines",
    "nonreversible",
    "on_groups",
    "particle",
    "pendulum",
    "quartic",
    "rattleback",
    "rigid_body",
    "robot",
    "roller_racer",
    "rolling_disk",
    "rubber_ball",
    "segway",
    "sleigh",
    "sleigh_se2",
    "snakeboard",
    "spherical_pendulum",
    "suslov",
    "tilted_disk",
    "transmission",
    "two_wheeled_robot",
]
