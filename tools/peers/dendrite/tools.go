//go:build tools

package peers

import _ "github.com/element-hq/dendrite/cmd/dendrite"
