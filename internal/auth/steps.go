package auth

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"example.com/plantstore/internal/logging"
)

// A step of a fetch reads the keys or the metadata. The metadata may take two requests.
type step struct {
	requested time.Time // when it made the last request
	ended     bool
	err       error
}

// running reports whether the step goes on. It no longer counts after fetchTimeout: no
// request takes longer, so the step was frozen together with the program.
func (s *step) running(now time.Time) bool {
	return !s.ended && now.Sub(s.requested) <= fetchTimeout
}

// idle reports whether no step is running. It must be called with k.mu.
func (k *issuerKeys) idle() bool {
	now := k.clock.now()
	return !k.keyStep.running(now) && !k.metadataStep.running(now)
}

// start starts a fetch. It must be called with k.mu, and only while no keys are being
// read. If the metadata is being read, for an earlier fetch, this one leaves it out.
func (k *issuerKeys) start(now time.Time) {
	k.fetchBegan = now
	if k.address == "" {
		k.startMetadata(now)
		return
	}
	k.metadataDue = len(k.metadata) > 0 && !k.metadataStep.running(now)
	k.startKeys(now)
}

// startKeys starts the step that reads the keys. It must be called with k.mu.
func (k *issuerKeys) startKeys(now time.Time) {
	s, address := &step{requested: now}, k.address
	k.keyStep = s
	go func() {
		set, err := read(k.client, address, ParseKeySet)
		if err != nil {
			k.warn("token keys not fetched", err)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.keyStep != s { // replaced, since it was frozen
			return
		}
		s.ended, s.err = true, err
		now := k.clock.now()
		switch {
		case address != k.address: // see learn
			k.startKeys(now)
		case err == nil:
			k.set, k.fetched = set, s.requested
		}
		if k.metadataDue {
			k.startMetadata(now)
		}
		k.notify()
	}()
}

// startMetadata starts the step that reads the metadata. It must be called with k.mu.
func (k *issuerKeys) startMetadata(now time.Time) {
	k.metadataDue = false
	s, failed := &step{requested: now}, "metadata of the token issuer not fetched; the keys were"
	if k.address == "" || k.keyStep.err != nil {
		failed = "token keys not fetched"
	}
	k.metadataStep = s
	go func() {
		found, err := k.readMetadata(s)
		if err != nil {
			k.warn(failed, err)
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.metadataStep != s { // replaced, since it was frozen
			return
		}
		s.ended, s.err = true, err
		if err == nil {
			k.learn(found)
		}
		k.notify()
	}()
}

// readMetadata returns what the issuer's metadata says. It requests the second document
// only if the first doesn't exist.
func (k *issuerKeys) readMetadata(s *step) (address string, err error) {
	var missing []string
	for _, address := range k.metadata {
		k.mu.Lock()
		s.requested = k.clock.now()
		k.mu.Unlock()
		found, err := read(k.client, address, k.parseMetadata)
		if !isNotFound(err) {
			return found, err
		}
		missing = append(missing, err.Error())
	}
	return "", fmt.Errorf("no metadata of the token issuer: %s", strings.Join(missing, "; "))
}

// parseMetadata returns the address of the keys.
func (k *issuerKeys) parseMetadata(body []byte) (string, error) {
	var m members
	if err := unmarshalLeniently(body, &m); err != nil {
		return "", errors.New("not a JSON object with issuer and jwks_uri")
	}
	issuer, _ := unquote(m["issuer"])
	if issuer != k.issuer {
		return "", fmt.Errorf("its issuer is %s, not %s", logging.Quote(issuer), logging.Quote(k.issuer))
	}
	address, _ := unquote(m["jwks_uri"])
	return address, CheckURL(address)
}

// learn adopts the address that the metadata has. It must be called with k.mu.
func (k *issuerKeys) learn(address string) {
	known := k.address
	k.address = address
	now := k.clock.now()
	if address != known && !k.keyStep.running(now) {
		k.startKeys(now)
	}
}

// notify wakes those who wait. It must be called with k.mu.
func (k *issuerKeys) notify() {
	close(k.changed)
	k.changed = make(chan struct{})
	if k.idle() { // the next fetch may be an hour away
		go k.client.CloseIdleConnections()
	}
}

func (k *issuerKeys) warn(message string, cause error) {
	k.warnings.Do(func() { k.log.Warn(message, "cause", cause.Error()) })
}
