# SPDX-License-Identifier: BSD-3-Clause
# Rows "round peer setting bytes us wrong" to a table, JSON lines (json) and
# columns to plot (data).  Exit status 1 if Tutti is over 5 % slower than
# the best peer at any size, 2 if a result was wrong.

{
	key = $2 SUBSEP $3 SUBSEP $4
	value[key, ++count[key]] = $5
	if (!(($2, $3) in known)) {
		known[$2, $3] = 1
		settings[$2] = settings[$2] " " $3
	}
	if (!($4 in seen)) {
		seen[$4] = 1
		size[++sizes] = $4 + 0
	}
	if ($6 + 0 > 0)
		wrong[$2] = 1
}

function sort(v, n,	i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] > v[j]; j--) {
			t = v[j]
			v[j] = v[j - 1]
			v[j - 1] = t
		}
}

# The median over rounds; 0 if there are none.
function median(peer, setting, bytes,	key, n, i, v) {
	key = peer SUBSEP setting SUBSEP bytes
	n = count[key]
	if (!n)
		return 0
	for (i = 1; i <= n; i++)
		v[i] = value[key, i] + 0
	sort(v, n)
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}

# The best of a peer's settings; its name in best_setting.
function best(peer, bytes,	n, i, s, t, least) {
	n = split(settings[peer], s, " ")
	least = 0
	best_setting = ""
	for (i = 1; i <= n; i++) {
		t = median(peer, s[i], bytes)
		if (t > 0 && (least == 0 || t < least)) {
			least = t
			best_setting = s[i]
		}
	}
	return least
}

function human(bytes) {
	if (bytes >= 1073741824 && bytes % 1073741824 == 0)
		return bytes / 1073741824 "G"
	if (bytes >= 1048576 && bytes % 1048576 == 0)
		return bytes / 1048576 "M"
	if (bytes >= 1024 && bytes % 1024 == 0)
		return bytes / 1024 "K"
	return bytes ""
}

function shown(us) {
	if (us <= 0)
		return "-"
	return sprintf(us < 100 ? "%.2f" : us < 10000 ? "%.1f" : "%.0f", us)
}

END {
	npeers = split(peers, peer, " ")
	sort(size, sizes)
	printf "# %s, float32, %d ranks, %s, Tutti's buffers from %s\n", op,
		ranks, form, alloc
	printf "# us: the slowest rank's, median over iterations, then over %d rounds in turn;\n", rounds
	printf "# send buffers are rewritten before each call; peers at their best setting for the size\n"
	printf "# ratio = the best peer's time / Tutti's; over 1, Tutti is faster; within 5 %% is noise\n"
	printf "%10s %11s", "bytes", "tutti"
	printf "\"bytes\" \"tutti\"" >data
	for (p = 1; p <= npeers; p++) {
		printf " %11s", peer[p]
		printf " \"%s\"", peer[p] >data
	}
	printf "  %-14s %6s\n", "best peer", "ratio"
	printf " \"ratio\"\n" >data
	for (i = 1; i <= sizes; i++)
		row(size[i])
	close(data)
	finish()
	exit status
}

function row(bytes,	p, t, us, least, name, ratio, mark) {
	us = best("tutti", bytes)
	if (us <= 0)
		return
	printf "%10s %11s", human(bytes), shown(us)
	printf "%d %f", bytes, us >data
	printf "{\"op\":\"%s\",\"bytes\":%d,\"ranks\":%d,\"alloc\":\"%s\",\"rounds\":%d,\"tutti_us\":%.4f", op, bytes, ranks, alloc, rounds, us >json
	least = 0
	for (p = 1; p <= npeers; p++) {
		t = best(peer[p], bytes)
		printf " %11s", shown(t)
		printf " %s", (t > 0 ? t : "-") >data
		if (t <= 0)
			continue
		printf ",\"%s_us\":%.4f,\"%s_setting\":\"%s\"", peer[p], t,
			peer[p], best_setting >json
		if (least == 0 || t < least) {
			least = t
			name = peer[p] " " best_setting
		}
	}
	ratio = least / us
	mark = ""
	if (least > 0) {
		total++
		if (ratio < 0.95) {
			mark = "  LOSS"
			losses = losses " " human(bytes)
		}
		printf "  %-14s %6.2f%s\n", name, ratio, mark
		printf " %f\n", ratio >data
		printf ",\"ratio\":%.4f,\"loss\":%s}\n", ratio,
			mark ? "true" : "false" >json
	} else {
		printf "\n"
		printf " -\n" >data
		printf "}\n" >json
	}
}

function finish(	p) {
	status = 0
	if (losses) {
		printf "# Tutti is slower than the best peer at:%s\n", losses
		status = 1
	} else if (total) {
		printf "# Tutti is at least as fast as every peer at all %d sizes (5 %% allowed)\n", total
	}
	for (p in wrong) {
		printf "# WRONG RESULTS from %s\n", p
		status = 2
	}
}
