package main

import (
	"errors"
	"os/signal"
	"syscall"

	"github.com/sirupsen/logrus"
	"github.com/spf13/cobra"

	"github.com/microshift-io/microshift-feature-gates/pkg/startup"
)

func (a *app) prestartCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "prestart",
		Short: "Check configuration and lock before MicroShift starts",
		Long: `Check the configuration, decide the feature gates of each component, check and
where need be write the lock, and log all of it. systemd runs this before
MicroShift; if it fails, MicroShift must not start. Run by hand it does the same,
but for a rollout by minimum kubelet version: only what systemd runs is recorded
as a start of MicroShift.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o, err := a.options()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			_, err = startup.Run(ctx, o)
			refusal := new(startup.Refusal)
			switch { // the log has said why already
			case err == nil:
				return nil
			case !errors.As(err, &refusal):
				return &exitError{code: exitFailed}
			case refusal.ByLock:
				return &exitError{code: exitLocked}
			default:
				return &exitError{code: exitRejected}
			}
		},
	}
}

// logger returns the logger for a format and the level of the global flag.
func (a *app) logger(format string) (logrus.FieldLogger, error) {
	level, err := logrus.ParseLevel(a.logLevel)
	if err != nil {
		return nil, usageError("--log-level: %w", err)
	}
	log := logrus.New()
	log.SetOutput(a.stderr)
	log.SetLevel(level)
	if format == "json" {
		log.SetFormatter(&jsonLog{})
	} else {
		// Without colours, since only then does logrus quote what could forge a line.
		log.SetFormatter(&logrus.TextFormatter{DisableColors: true, FullTimestamp: true})
	}
	return log, nil
}
