//go:build tools

package peers

import _ "github.com/letsencrypt/pebble/v2/cmd/pebble"
