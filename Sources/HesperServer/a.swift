import Hummingbird
import HummingbirdCore
import HummingbirdTLS
import CryptoExtras
import Yams
import HesperStore
