# A server with a shared cache. Each run checks itself that every request is accounted for.
heist_example_test(cached_server --clients 4 --requests 200
                   EXPECT "800 accepted, 0 refused.*every request is accounted for")
heist_example_test(cached_server --requests 100 --workers 1 --queue 1 --handlers 3 --connections 1 --backend-time 20
                   EXPECT "800 accepted.*every request is accounted for")
heist_example_test(cached_server --requests 200 --clients 2 --stop-after 20 --queue 4
                   EXPECT "every request is accounted for")
heist_example_test(cached_server --requests 50 --deadline 0 EXPECT "400 accepted.*every request is accounted for")
heist_example_test(cached_server --queue 0 FAILS EXPECT "queue")
