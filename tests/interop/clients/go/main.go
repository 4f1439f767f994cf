// What does franz-go see of a cluster? Run as `steps BOOTSTRAP_SERVERS BROKERS [STEP...]`: prints a line of JSON for
// each step with its outcome, as tests/interop/clients/steps.py says.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	family      = "franz-go"
	stepSeconds = 30
	start       = int64(1_700_000_000_000)
)

type object = map[string]any

type target struct {
	servers []string
	brokers int
	factor  int16
	admin   *kadm.Client
}

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	addresses = regexp.MustCompile(`(localhost|127\.0\.0\.1):\d+`)
)

func withoutIDs(text string) string {
	return addresses.ReplaceAllString(uuids.ReplaceAllString(text, "UUID"), "ADDRESS")
}

// failure tells what is known of an error, and nil of none.
func failure(err error) any {
	if err == nil {
		return nil
	}
	var known *kerr.Error
	if errors.As(err, &known) {
		return object{"code": known.Message, "text": withoutIDs(err.Error())}
	}
	return object{"text": withoutIDs(err.Error())}
}

func with(err error, message string) any {
	if err == nil {
		return "ok"
	}
	return []any{failure(err), withoutIDs(message)}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func named(name string) string { return family + "-" + name }

// eventually asks until an answer holds; the last answer counts when time is up.
func eventually[T any](ask func() T, holds func(T) bool) T {
	end := time.Now().Add(15 * time.Second)
	for {
		answer := ask()
		if holds(answer) || time.Now().After(end) {
			return answer
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func (t *target) client(options ...kgo.Opt) *kgo.Client {
	common := []kgo.Opt{
		kgo.SeedBrokers(t.servers...),
		kgo.FetchMaxWait(50 * time.Millisecond),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(20 * time.Millisecond),
	}
	return must(kgo.NewClient(append(common, options...)...))
}

// looks returns how often in a row a new topic is to be seen: the next question may go to a broker that lags.
func (t *target) looks() int {
	if t.brokers == 1 {
		return 1
	}
	return 8
}

// member returns a client that is in a group.
func (t *target) member(group, topic string, options ...kgo.Opt) *kgo.Client {
	common := []kgo.Opt{
		kgo.ConsumerGroup(named(group)),
		kgo.ConsumeTopics(topic),
		kgo.HeartbeatInterval(100 * time.Millisecond),
		kgo.SessionTimeout(6 * time.Second),
		kgo.DisableAutoCommit(),
	}
	return t.client(append(common, options...)...)
}

func (t *target) make(ctx context.Context, name string, partitions int, configs ...string) string {
	topic := named(name)
	given := map[string]*string{}
	for i := 0; i < len(configs); i += 2 {
		given[configs[i]] = &configs[i+1]
	}
	made := must(t.admin.CreateTopics(ctx, int32(partitions), t.factor, given, topic))
	check(made[topic].Err)
	for range t.looks() {
		eventually(func() int {
			led := 0
			for _, one := range must(t.admin.Metadata(ctx, topic)).Topics[topic].Partitions {
				if one.Err == nil && one.Leader >= 0 {
					led++
				}
			}
			return led
		}, func(led int) bool { return led == partitions })
	}
	return topic
}

func send(ctx context.Context, client *kgo.Client, topic string, partition int32, values ...string) []any {
	told := []any{}
	for _, value := range values {
		told = append(told, sendOne(ctx, client, &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}))
	}
	return told
}

func sendOne(ctx context.Context, client *kgo.Client, record *kgo.Record) any {
	kept, err := client.ProduceSync(ctx, record).First()
	if err != nil {
		return failure(err)
	}
	return kept.Offset
}

// read takes so many records, or as many as come within a second and a half.
func read(ctx context.Context, client *kgo.Client, count int) []*kgo.Record {
	rows := []*kgo.Record{}
	patience := 1500 * time.Millisecond
	for len(rows) < count {
		limited, cancel := context.WithTimeout(ctx, patience)
		fetches := client.PollFetches(limited)
		cancel()
		if fetches.Empty() && limited.Err() != nil {
			break
		}
		rows = append(rows, fetches.Records()...)
	}
	sort.SliceStable(rows, func(i, j int) bool {
		a, b := rows[i], rows[j]
		return a.Partition < b.Partition || a.Partition == b.Partition && a.Offset < b.Offset
	})
	return rows
}

func (t *target) readAll(ctx context.Context, topic string, count int, from kgo.Offset, options ...kgo.Opt) []*kgo.Record {
	places := map[string]map[int32]kgo.Offset{topic: {0: from}}
	client := t.client(append(options, kgo.ConsumePartitions(places))...)
	defer client.Close()
	return read(ctx, client, count)
}

func text(data []byte) any {
	if data == nil {
		return nil
	}
	return string(data)
}

func shown(rows []*kgo.Record) []any {
	told := []any{}
	for _, row := range rows {
		headers := []any{}
		for _, header := range row.Headers {
			headers = append(headers, []any{header.Key, text(header.Value)})
		}
		told = append(told, []any{row.Offset, row.LeaderEpoch, text(row.Key), text(row.Value), headers,
			row.Timestamp.UnixMilli(), row.Attrs.TimestampType(), row.Attrs.CompressionType(), row.Attrs.IsTransactional()})
	}
	return told
}

func values(rows []*kgo.Record) []string {
	told := []string{}
	for _, row := range rows {
		told = append(told, string(row.Value))
	}
	return told
}

// -- the cluster and its topics -------------------------------------------------------------------

func cluster(ctx context.Context, t *target) any {
	seen := must(t.admin.BrokerMetadata(ctx))
	return object{"brokers": seen.Brokers.NodeIDs(), "rack": seen.Brokers[0].Rack,
		"id": len(seen.Cluster)}
}

func topics(ctx context.Context, t *target) any {
	create := func(name string, partitions int32, factor int16, configs map[string]*string) any {
		made, err := t.admin.CreateTopics(ctx, partitions, factor, configs, name)
		if err != nil {
			return failure(err)
		}
		row := made[name]
		if row.Err != nil {
			return with(row.Err, row.ErrMessage)
		}
		return []any{row.NumPartitions, row.ReplicationFactor, len(row.Configs)}
	}
	bad, small := "x", "1"
	name := named("made")
	told := object{
		"made":     create(name, 2, t.factor, nil),
		"again":    create(name, 2, t.factor, nil),
		"defaults": create(named("defaults"), -1, -1, nil),
		"zero":     create(named("zero"), 0, 1, nil),
		"minus":    create(named("minus"), 1, -2, nil),
		"replicas": create(named("replicas"), 1, int16(t.brokers+1), nil),
		"odd":      create("odd#name", 1, 1, nil),
		"config":   create(named("config"), 1, 1, map[string]*string{"cleanup.policy": &bad}),
		"range":    create(named("config"), 1, 1, map[string]*string{"segment.bytes": &small}),
	}
	grow := func(count int, name string) any {
		rows, err := t.admin.UpdatePartitions(ctx, count, name)
		if err != nil {
			return failure(err)
		}
		return with(rows[name].Err, rows[name].ErrMessage)
	}
	told["grown"] = []any{grow(3, name), grow(3, name), grow(1, name)}
	listed := eventually(func() kadm.TopicDetail { return must(t.admin.ListTopics(ctx, name))[name] },
		func(seen kadm.TopicDetail) bool { return len(seen.Partitions) == 3 })
	told["listed"] = []any{len(listed.Partitions), listed.IsInternal, failure(listed.Err)}
	told["unknown"] = failure(must(t.admin.ListTopics(ctx, named("no-such")))[named("no-such")].Err)
	for _, one := range []string{name, named("no-such")} {
		row := must(t.admin.DeleteTopics(ctx, one))[one]
		told["deleted "+one] = with(row.Err, row.ErrMessage)
	}
	return told
}

func configs(ctx context.Context, t *target) any {
	topic := t.make(ctx, "configs", 1, "retention.ms", "777777")
	describe := func(name string) any {
		rows, err := t.admin.DescribeTopicConfigs(ctx, name)
		if err != nil {
			return failure(err)
		}
		row := must(rows.On(name, nil))
		if row.Err != nil {
			return with(row.Err, row.ErrMessage)
		}
		told := object{}
		for _, one := range row.Configs {
			synonyms := []any{}
			for _, other := range one.Synonyms {
				synonyms = append(synonyms, []any{other.Key, other.Value, other.Source.String()})
			}
			told[one.Key] = []any{one.Value, one.Source.String(), one.Sensitive, synonyms}
		}
		return told
	}
	alter := func(name, key string, value *string, op kadm.IncrementalOp) any {
		rows, err := t.admin.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: op, Name: key, Value: value}}, name)
		if err != nil {
			return failure(err)
		}
		return with(rows[0].Err, rows[0].ErrMessage)
	}
	more, wrong, compact := "888888", "soon", "compact"
	isKnown := func(seen any) bool { // The broker that is asked may hear of the topic later than the others.
		_, ok := seen.(object)
		return ok
	}
	told := object{
		"before":   eventually(func() any { return describe(topic) }, isKnown),
		"no such":  describe(named("no-such")),
		"set":      alter(topic, "retention.ms", &more, kadm.SetConfig),
		"append":   alter(topic, "cleanup.policy", &compact, kadm.AppendConfig),
		"subtract": alter(topic, "retention.ms", &more, kadm.SubtractConfig),
		"bad":      alter(topic, "retention.ms", &wrong, kadm.SetConfig),
		"unknown":  alter(topic, "retention.sm", &more, kadm.SetConfig),
		"nobody's": alter(named("no-such"), "retention.ms", &more, kadm.SetConfig),
	}
	told["after"] = eventually(func() any { return describe(topic) }, func(seen any) bool {
		return strings.Contains(string(must(json.Marshal(seen))), "delete,compact")
	})
	return told
}

// -- records --------------------------------------------------------------------------------------

func codecs(ctx context.Context, t *target) any {
	told := object{}
	for name, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(),
		"snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
		topic := t.make(ctx, "codec-"+name, 1)
		client := t.client(kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(20*time.Millisecond))
		records := []*kgo.Record{}
		for n := range int64(4) {
			records = append(records, &kgo.Record{Topic: topic, Key: []byte("k"), Value: []byte(strings.Repeat("v", 60)),
				Headers:   []kgo.RecordHeader{{Key: "h", Value: []byte("1")}, {Key: "h"}},
				Timestamp: time.UnixMilli(start + n)})
		}
		records = append(records, &kgo.Record{Topic: topic, Timestamp: time.UnixMilli(start)})
		check(client.ProduceSync(ctx, records...).FirstErr())
		client.Close()
		told[name] = shown(t.readAll(ctx, topic, len(records), kgo.NewOffset().AtStart()))
	}
	return told
}

func acksAndRefusals(ctx context.Context, t *target) any {
	topic, small := t.make(ctx, "acks", 1), t.make(ctx, "small", 1, "max.message.bytes", "200")
	keyed := t.make(ctx, "keyed", 1, "cleanup.policy", "compact")
	future := t.make(ctx, "future", 1, "message.timestamp.after.max.ms", "1000")
	idempotent := t.client()
	plain := t.client(kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite(), kgo.RecordRetries(0),
		kgo.ProducerBatchCompression(kgo.NoCompression()))
	defer idempotent.Close()
	defer plain.Close()
	return object{
		"idempotent": send(ctx, idempotent, topic, 0, "a", "b", "c"),
		"leader":     send(ctx, plain, topic, 0, "d"),
		"large":      send(ctx, plain, small, 0, strings.Repeat("x", 500)),
		"no key":     send(ctx, plain, keyed, 0, "x"),
		"future": sendOne(ctx, plain, &kgo.Record{Topic: future, Value: []byte("x"),
			Timestamp: time.UnixMilli(4_000_000_000_000)}),
		"read": values(t.readAll(ctx, topic, 4, kgo.NewOffset().AtStart())),
	}
}

func byAssignment(ctx context.Context, t *target) any {
	topic := t.make(ctx, "assigned", 1)
	client := t.client()
	defer client.Close()
	for n := range int64(6) {
		check(client.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(strconv.FormatInt(n, 10)),
			Timestamp: time.UnixMilli(start + n)}).FirstErr())
	}
	list := func(rows kadm.ListedOffsets, err error) any {
		if err != nil {
			return failure(err)
		}
		row, _ := rows.Lookup(topic, 0)
		return []any{row.Offset, row.Timestamp, row.LeaderEpoch, failure(row.Err)}
	}
	told := object{
		"from 2":     values(t.readAll(ctx, topic, 4, kgo.NewOffset().At(2))),
		"tail":       values(t.readAll(ctx, topic, 2, kgo.NewOffset().AtEnd().Relative(-2))),
		"by time":    values(t.readAll(ctx, topic, 2, kgo.NewOffset().AfterMilli(start+4))),
		"past":       values(t.readAll(ctx, topic, 6, kgo.NewOffset().At(99))),
		"start":      list(t.admin.ListStartOffsets(ctx, topic)),
		"end":        list(t.admin.ListEndOffsets(ctx, topic)),
		"committed":  list(t.admin.ListCommittedOffsets(ctx, topic)),
		"after":      list(t.admin.ListOffsetsAfterMilli(ctx, start+3, topic)),
		"after all":  list(t.admin.ListOffsetsAfterMilli(ctx, start+300, topic)),
		"max":        list(t.admin.ListMaxTimestampOffsets(ctx, topic)),
		"of unknown": failure(must(t.admin.ListEndOffsets(ctx, named("no-such"))).Error()),
	}
	remove := func(offset int64) any {
		rows := must(t.admin.DeleteRecords(ctx, kadm.Offsets{topic: {0: {Topic: topic, At: offset, LeaderEpoch: -1}}}))
		row, _ := rows.Lookup(topic, 0)
		return []any{row.LowWatermark, failure(row.Err)}
	}
	told["removed"] = []any{remove(2), remove(99), remove(-1)}
	told["start after"] = list(t.admin.ListStartOffsets(ctx, topic))
	return told
}

// -- transactions ---------------------------------------------------------------------------------

func transactions(ctx context.Context, t *target) any {
	topic, source := t.make(ctx, "transactions", 1), t.make(ctx, "tx-source", 1)
	client := t.client(kgo.TransactionalID(named("tx")))
	for _, name := range []string{"a", "b", "c"} {
		check(client.BeginTransaction())
		send(ctx, client, topic, 0, name+"0", name+"1")
		check(client.EndTransaction(ctx, kgo.TransactionEndTry(name != "b")))
	}
	described := must(t.admin.DescribeProducers(ctx, kadm.TopicsSet{topic: {0: {}}}))
	told := object{
		"committed": shownBriefly(t.readAll(ctx, topic, 4, kgo.NewOffset().AtStart(),
			kgo.FetchIsolationLevel(kgo.ReadCommitted()))),
		"uncommitted":   shownBriefly(t.readAll(ctx, topic, 6, kgo.NewOffset().AtStart())),
		"with controls": len(t.readAll(ctx, topic, 9, kgo.NewOffset().AtStart(), kgo.KeepControlRecords())),
		"producers":     len(described.SortedProducers()),
	}
	rival := t.client(kgo.TransactionalID(named("tx")))
	check(rival.BeginTransaction())
	send(ctx, rival, topic, 0, "rival")
	check(rival.EndTransaction(ctx, kgo.TryCommit))
	check(client.BeginTransaction())
	told["fenced"] = send(ctx, client, topic, 0, "late")
	told["end of the fenced"] = failure(client.EndTransaction(ctx, kgo.TryCommit))
	client.Close()
	rival.Close()

	writer := t.client()
	send(ctx, writer, source, 0, "1", "2", "3")
	writer.Close()
	session := must(kgo.NewGroupTransactSession(kgo.SeedBrokers(t.servers...), kgo.TransactionalID(named("copier")),
		kgo.ConsumerGroup(named("copiers")), kgo.ConsumeTopics(source), kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(50*time.Millisecond),
		kgo.HeartbeatInterval(100*time.Millisecond), kgo.RequireStableFetchOffsets()))
	moved := []string{}
	for len(moved) < 3 && ctx.Err() == nil {
		rows := session.PollFetches(ctx).Records()
		check(session.Begin())
		for _, row := range rows {
			moved = append(moved, string(row.Value))
			session.Produce(ctx, &kgo.Record{Topic: topic, Value: append(row.Value, '!')}, nil)
		}
		must(session.End(ctx, kgo.TryCommit))
	}
	session.Close()
	told["moved"] = moved
	told["moved to"] = values(t.readAll(ctx, topic, 8, kgo.NewOffset().AtStart(), kgo.FetchIsolationLevel(kgo.ReadCommitted())))
	told["offset"] = committed(must(t.admin.FetchOffsets(ctx, named("copiers"))))
	return told
}

func shownBriefly(rows []*kgo.Record) []any {
	told := []any{}
	for _, row := range rows {
		told = append(told, []any{row.Offset, text(row.Value)})
	}
	return told
}

// -- groups ---------------------------------------------------------------------------------------

func committed(rows kadm.OffsetResponses) []any {
	told := []any{}
	for _, row := range rows.Sorted() {
		told = append(told, []any{row.Topic, row.Partition, row.At, row.LeaderEpoch, withoutIDs(row.Metadata), failure(row.Err)})
	}
	return told
}

func described(ctx context.Context, t *target, group string) any {
	row := must(t.admin.DescribeGroups(ctx, named(group)))[named(group)]
	members := []any{}
	for _, member := range row.Members {
		instance := any(nil)
		if member.InstanceID != nil {
			instance = *member.InstanceID
		}
		assigned, _ := member.Assigned.AsConsumer()
		count := 0
		if assigned != nil {
			for _, one := range assigned.Topics {
				count += len(one.Partitions)
			}
		}
		members = append(members, []any{member.ClientID, instance, member.ClientHost, count})
	}
	sort.Slice(members, func(i, j int) bool { return fmt.Sprint(members[i]) < fmt.Sprint(members[j]) })
	return []any{row.State, row.ProtocolType, row.Protocol, members, failure(row.Err), row.ErrMessage}
}

type member struct {
	client   *kgo.Client
	cancel   context.CancelFunc
	finished chan struct{}
}

func (t *target) join(ctx context.Context, group, topic, id string, options ...kgo.Opt) *member {
	one := &member{client: t.member(group, topic, append(options, kgo.ClientID(id))...), finished: make(chan struct{})}
	polling, cancel := context.WithCancel(ctx)
	one.cancel = cancel
	go func() {
		defer close(one.finished)
		for polling.Err() == nil {
			one.client.PollFetches(polling)
		}
	}()
	return one
}

func (m *member) stop() *kgo.Client {
	m.cancel()
	<-m.finished
	return m.client
}

func (m *member) leave(ctx context.Context) {
	m.stop().Close()
}

// settled waits until the group is stable and its members have as many partitions as that.
func settled(ctx context.Context, t *target, group string, sizes ...int) any {
	return eventually(func() any {
		row := must(t.admin.DescribeGroups(ctx, named(group)))[named(group)]
		counts := []int{}
		for _, member := range row.Members {
			assigned, ok := member.Assigned.AsConsumer()
			if !ok {
				continue
			}
			for _, one := range assigned.Topics {
				counts = append(counts, len(one.Partitions))
			}
		}
		sort.Ints(counts)
		return []any{row.State, counts}
	}, func(seen any) bool { return fmt.Sprint(seen) == fmt.Sprint([]any{"Stable", sizes}) })
}

func rebalance(ctx context.Context, t *target) any {
	topic := t.make(ctx, "shared", 4)
	told := object{}
	for name, balancer := range map[string]kgo.GroupBalancer{"range": kgo.RangeBalancer(), "sticky": kgo.StickyBalancer(),
		"cooperative-sticky": kgo.CooperativeStickyBalancer(), "roundrobin": kgo.RoundRobinBalancer()} {
		first := t.join(ctx, name, topic, "a", kgo.Balancers(balancer))
		rows := []any{settled(ctx, t, name, 4)}
		second := t.join(ctx, name, topic, "b", kgo.Balancers(balancer))
		rows = append(rows, settled(ctx, t, name, 2, 2), described(ctx, t, name))
		second.leave(ctx)
		rows = append(rows, settled(ctx, t, name, 4))
		first.leave(ctx)
		told[name] = append(rows, described(ctx, t, name))
	}
	return told
}

func staticMembers(ctx context.Context, t *target) any {
	topic := t.make(ctx, "static", 2)
	// A session that no slow machine ends: a static member that is away keeps its partitions for so long.
	patient := kgo.SessionTimeout(30 * time.Second)
	first := t.join(ctx, "static", topic, "one", kgo.InstanceID("one"), patient)
	second := t.join(ctx, "static", topic, "two", kgo.InstanceID("two"), patient)
	told := object{"before": settled(ctx, t, "static", 1, 1)}
	second.leave(ctx)
	told["away"] = described(ctx, t, "static")
	second = t.join(ctx, "static", topic, "two", kgo.InstanceID("two"), patient)
	told["back"] = settled(ctx, t, "static", 1, 1)
	removed := must(t.admin.LeaveGroup(ctx, kadm.LeaveGroup(named("static")).InstanceIDs("two", "nobody")))
	rows := []any{}
	for _, row := range removed.Sorted() {
		rows = append(rows, []any{row.InstanceID, failure(row.Err)})
	}
	told["removed by an admin"] = rows
	first.leave(ctx)
	second.leave(ctx)
	return told
}

func commitAndResume(ctx context.Context, t *target) any {
	topic, group := t.make(ctx, "resumed", 1), named("resume")
	writer := t.client()
	send(ctx, writer, topic, 0, "0", "1", "2", "3", "4")
	writer.Close()
	first := t.member("resume", topic)
	rows := read(ctx, first, 5)
	check(first.CommitRecords(ctx, rows[2]))
	first.Close()
	second := t.member("resume", topic, kgo.ClientID("m"))
	told := object{"rest": values(read(ctx, second, 2)), "described": described(ctx, t, "resume")}
	lag := must(t.admin.Lag(ctx, group))[group]
	told["lag"] = []any{lag.State, lag.Lag.Total()}
	commit := func(offset int64) any {
		offsets := kadm.Offsets{}
		offsets.Add(kadm.Offset{Topic: topic, At: offset, LeaderEpoch: -1, Metadata: "by hand"})
		rows, err := t.admin.CommitOffsets(ctx, group, offsets)
		if err != nil {
			return failure(err)
		}
		return failure(rows.Error())
	}
	remove := func() any {
		rows, err := t.admin.DeleteOffsets(ctx, group, kadm.TopicsSet{topic: {0: {}}})
		if err != nil {
			return failure(err)
		}
		return failure(rows.Error())
	}
	told["in use"] = []any{commit(1), remove(), failure(must(t.admin.DeleteGroups(ctx, group))[group].Err)}
	told["offsets"] = committed(must(t.admin.FetchOffsets(ctx, group)))
	second.Close()
	told["empty"] = []any{described(ctx, t, "resume"), commit(1), committed(must(t.admin.FetchOffsets(ctx, group))), remove(),
		committed(must(t.admin.FetchOffsets(ctx, group)))}
	for _, row := range must(t.admin.ListGroups(ctx)).Sorted() {
		if row.Group == group {
			told["listed"] = []any{row.ProtocolType, row.State}
		}
	}
	told["deleted"] = []any{failure(must(t.admin.DeleteGroups(ctx, group))[group].Err),
		failure(must(t.admin.DeleteGroups(ctx, group))[group].Err), described(ctx, t, "resume")}
	return told
}

var steps = []struct {
	name string
	run  func(context.Context, *target) any
}{
	{"cluster", cluster}, {"topics", topics}, {"configs", configs}, {"codecs", codecs},
	{"acks_and_refusals", acksAndRefusals}, {"by_assignment", byAssignment}, {"transactions", transactions},
	{"rebalance", rebalance}, {"static_members", staticMembers}, {"commit_and_resume", commitAndResume},
}

// attempt returns what a step came to; what it raised is an outcome too.
func attempt(t *target, step func(context.Context, *target) any) (outcome any) {
	ctx, cancel := context.WithTimeout(context.Background(), stepSeconds*time.Second)
	defer cancel()
	defer func() {
		if raised := recover(); raised != nil {
			if err, ok := raised.(error); ok {
				outcome = object{"raised": failure(err)}
			} else {
				outcome = object{"raised": fmt.Sprint(raised)}
			}
		}
	}()
	return step(ctx, t)
}

func main() {
	brokers := must(strconv.Atoi(os.Args[2]))
	t := &target{servers: strings.Split(os.Args[1], ","), brokers: brokers, factor: int16(min(3, brokers))}
	t.admin = kadm.NewClient(must(kgo.NewClient(kgo.SeedBrokers(t.servers...), kgo.MetadataMinAge(20*time.Millisecond))))
	wanted := map[string]bool{}
	for _, name := range os.Args[3:] {
		wanted[name] = true
	}
	for _, step := range steps {
		if len(wanted) > 0 && !wanted[step.name] {
			continue
		}
		begun := time.Now()
		line := must(json.Marshal(object{"step": step.name, "outcome": attempt(t, step.run)}))
		fmt.Println(string(line))
		fmt.Fprintf(os.Stderr, "%s: %.2f s\n", step.name, time.Since(begun).Seconds())
	}
}
