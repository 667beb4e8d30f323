//go:build tools

// Package helm pins the helm that lints and renders the chart of deploy/helm in tests.
package helm

import _ "helm.sh/helm/v3/cmd/helm"
