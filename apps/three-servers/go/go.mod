module three-servers

go 1.24

require (
	github.com/lib/pq v1.10.9
	github.com/ziutek/mymysql v1.5.4
)
