#include "crazyflie.h"
