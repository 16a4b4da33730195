import GRDB
import HesperStore
