package fleet

import "context"

// Notifier is told of changes. Notify returns when the change has been told, or an
// error; then the same change, with the same ID, may be told again later.
type Notifier interface {
	Notify(ctx context.Context, c StatusChange) error
}

// NotifierFunc is a Notifier that is one function.
type NotifierFunc func(ctx context.Context, c StatusChange) error

// Notify calls f.
func (f NotifierFunc) Notify(ctx context.Context, c StatusChange) error { return f(ctx, c) }

// DefaultNotifyLimit is how many changes are told a minute.
const DefaultNotifyLimit = 10
