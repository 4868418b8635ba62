package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"time"

	_ "github.com/lib/pq"
	_ "github.com/ziutek/mymysql/godrv"
)

// Waits so many milliseconds.
type waiter func(context.Context, float64) error

// In the database that the address names, or with a timer where there is none. The pool has no limit, so that it
// is not what is measured.
func newWaiter(address string) (waiter, error) {
	if address == "" {
		return byTimer, nil
	}
	place, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("DATABASE_URL cannot be read: %w", err)
	}
	switch place.Scheme {
	case "mysql", "mysql2", "mariadb", "trilogy":
		password, _ := place.User.Password()
		source := fmt.Sprintf("tcp:%s*%s/%s/%s", place.Host, strings.TrimPrefix(place.Path, "/"), place.User.Username(), password)
		return inDatabase("mymysql", source, "SELECT SLEEP(%f)")
	case "postgres", "postgresql":
		query := place.Query()
		if !query.Has("sslmode") {
			query.Set("sslmode", "disable")
			place.RawQuery = query.Encode()
		}
		return inDatabase("postgres", place.String(), "SELECT pg_sleep(%f)")
	}
	return nil, fmt.Errorf("DATABASE_URL names %q; known are mysql, mysql2, mariadb, trilogy, postgres, postgresql", place.Scheme)
}

func byTimer(_ context.Context, milliseconds float64) error {
	time.Sleep(time.Duration(milliseconds * float64(time.Millisecond)))
	return nil
}

func inDatabase(driver, source, statement string) (waiter, error) {
	database, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	database.SetMaxIdleConns(200)
	if err := database.Ping(); err != nil {
		return nil, fmt.Errorf("the database does not answer: %w", err)
	}
	return func(ctx context.Context, milliseconds float64) error {
		rows, err := database.QueryContext(ctx, fmt.Sprintf(statement, milliseconds/1000))
		if err != nil {
			return err
		}
		return rows.Close()
	}, nil
}
