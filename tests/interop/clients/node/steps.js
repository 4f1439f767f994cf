// What does kafkajs see of a cluster? Run as `node steps.js BOOTSTRAP_SERVERS BROKERS [STEP...]`: prints a line of JSON
// for each step with its outcome, as tests/interop/clients/steps.py says.
"use strict";

const { Kafka, logLevel, CompressionTypes, CompressionCodecs, ConfigResourceTypes, AssignerProtocol } = require("kafkajs");
const { ZstdCodec } = require("zstd-codec");

// The packages that kafkajs names for lz4 and zstd want a compiler where they are installed. This one does not; what is
// written in JavaScript for lz4 makes frames of dependent blocks, which Kafka refuses.
const zstd = new Promise((found) => ZstdCodec.run((made) => found(new made.Simple())));
CompressionCodecs[CompressionTypes.Snappy] = require("kafkajs-snappy");
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async ({ buffer }) => Buffer.from((await zstd).compress(buffer)),
  decompress: async (buffer) => Buffer.from((await zstd).decompress(buffer)),
});

const FAMILY = "kafkajs";
const STEP_MS = 30_000;
const START = 1_700_000_000_000;
const [bootstrap, brokerCount, ...only] = process.argv.slice(2);
const factor = Math.min(3, Number(brokerCount));

function client(clientId = "kafkajs") {
  return new Kafka({
    clientId,
    brokers: bootstrap.split(","),
    logLevel: logLevel.NOTHING,
    retry: { initialRetryTime: 50, retries: 8 },
  });
}

const kafka = client();
const named = (name) => `${FAMILY}-${name}`;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const withoutIds = (text) =>
  String(text)
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "UUID")
    .replace(/(localhost|127\.0\.0\.1):\d+/g, "ADDRESS");

function failure(error) {
  const told = { name: error.name, type: error.type, code: error.code, text: withoutIds(error.message) };
  if (error.errors) told.each = error.errors.map(failure);
  if (error.groups) told.groups = error.groups.map((row) => [row.groupId, row.errorCode]);
  return told;
}

async function attempt(call) {
  try {
    const outcome = await call();
    return outcome === undefined ? "ok" : outcome;
  } catch (error) {
    return failure(error);
  }
}

async function eventually(ask, holds, ms = 15_000) {
  const end = Date.now() + ms;
  for (;;) {
    const answer = await ask();
    if (holds(answer) || Date.now() > end) return answer;
    await pause(20);
  }
}

async function using(thing, call) {
  await thing.connect();
  try {
    return await call(thing);
  } finally {
    await thing.disconnect();
  }
}

const admin = kafka.admin({ retry: { initialRetryTime: 50, retries: 1 } });

async function make(name, numPartitions = 1, configs = {}) {
  const topic = named(name);
  const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }));
  await admin.createTopics({
    topics: [{ topic, numPartitions, replicationFactor: factor, configEntries }],
    waitForLeaders: true,
  });
  // The next question may go to a broker that lags.
  for (let look = 0; factor > 1 && look < 8; look++) {
    await eventually(
      () => attempt(() => admin.fetchTopicMetadata({ topics: [topic] })),
      (seen) => seen.topics && seen.topics[0].partitions.length === numPartitions,
    );
  }
  return topic;
}

async function send(producer, topic, messages, more = {}) {
  return attempt(async () => {
    const rows = await producer.send({ topic, messages: messages.map((m) => ({ partition: 0, ...m })), ...more });
    return rows.map((row) => [row.partition, row.errorCode, row.baseOffset]);
  });
}

const text = (data) => (data === null || data === undefined ? null : data.toString());

function shown({ partition, message }) {
  const headers = Object.entries(message.headers || {}).map(([key, value]) => [
    key,
    Array.isArray(value) ? value.map(text) : text(value),
  ]);
  const { offset, timestamp } = message;
  return { partition, offset, timestamp, key: text(message.key), value: text(message.value), headers };
}

let readers = 0;

// Reads so many records from the beginning, in a group of its own.
async function readAll(topic, count, options = {}) {
  const groupId = named(`reader-${readers++}`);
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, readUncommitted: true, ...options });
  const rows = [];
  return using(consumer, async () => {
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ eachMessage: async (row) => void rows.push(shown(row)) });
    await eventually(async () => rows.length, (seen) => seen >= count, 5_000);
    return rows.sort((a, b) => a.partition - b.partition || Number(a.offset) - Number(b.offset));
  });
}

const values = (rows) => rows.map((row) => row.value);

// -- the cluster and its topics -----------------------------------------------------------------

async function cluster() {
  const seen = await admin.describeCluster();
  return {
    brokers: seen.brokers.map((row) => [row.nodeId, row.host]).sort(),
    controller: seen.brokers.some((row) => row.nodeId === seen.controller),
    id: seen.clusterId.length,
  };
}

async function topics() {
  const create = (topic, numPartitions, replicationFactor, configEntries = []) =>
    attempt(() => admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor, configEntries }], waitForLeaders: false }));
  const grow = (topic, count) => attempt(() => admin.createPartitions({ topicPartitions: [{ topic, count }] }));
  const name = named("made");
  const told = {
    made: await create(name, 2, factor),
    again: await create(name, 2, factor),
    zero: await create(named("zero"), 0, 1),
    replicas: await create(named("replicas"), 1, 9),
    odd: await create("odd name", 1, 1),
    config: await create(named("config"), 1, 1, [{ name: "retention.ms", value: "x" }]),
    grown: [await grow(name, 3), await grow(name, 1), await grow(named("no-such"), 2)],
  };
  const described = await eventually(
    () => attempt(() => admin.fetchTopicMetadata({ topics: [name] })),
    (seen) => seen.topics && seen.topics[0].partitions.length === 3,
  );
  told.described = described.topics.map((row) => [row.name, row.partitions.map((p) => [p.replicas.length, p.isr.length])]);
  told.listed = (await admin.listTopics()).filter((topic) => topic === name);
  told.deleted = [
    await attempt(() => admin.deleteTopics({ topics: [name] })),
    await attempt(() => admin.deleteTopics({ topics: [named("no-such")] })),
  ];
  return told;
}

async function configs() {
  const topic = await make("configs", 1, { "retention.ms": "777777" });
  const describe = (type, name, configNames) =>
    attempt(async () => {
      const { resources } = await admin.describeConfigs({ includeSynonyms: true, resources: [{ type, name, configNames }] });
      return resources.map((row) => [
        row.errorCode,
        row.errorMessage,
        row.resourceName,
        row.configEntries.map((one) => ({ ...one })).sort((a, b) => a.configName.localeCompare(b.configName)),
      ]);
    });
  const alter = (name, key, value) =>
    attempt(async () => {
      const configEntries = [{ name: key, value }];
      const done = await admin.alterConfigs({ validateOnly: false, resources: [{ type: ConfigResourceTypes.TOPIC, name, configEntries }] });
      return done.resources;
    });
  return {
    before: await describe(ConfigResourceTypes.TOPIC, topic, ["retention.ms", "cleanup.policy"]),
    broker: await describe(ConfigResourceTypes.BROKER, "1", ["num.partitions", "log.retention.hours"]),
    "no such": await describe(ConfigResourceTypes.TOPIC, named("no-such"), ["retention.ms"]),
    altered: await alter(topic, "segment.bytes", "2097152"),
    refused: [await alter(topic, "retention.ms", "x"), await alter(named("no-such"), "retention.ms", "1")],
    after: await eventually(
      () => describe(ConfigResourceTypes.TOPIC, topic, ["retention.ms", "segment.bytes"]),
      (seen) => JSON.stringify(seen).includes("2097152"),
    ),
  };
}

// -- records ------------------------------------------------------------------------------------

async function codecs() {
  const told = {};
  const { None, GZIP, Snappy, ZSTD } = CompressionTypes;
  for (const [name, compression] of Object.entries({ none: None, gzip: GZIP, snappy: Snappy, zstd: ZSTD })) {
    const topic = await make(`codec-${name}`);
    const sent = await using(kafka.producer(), (producer) =>
      send(
        producer,
        topic,
        [
          { key: "k", value: "value", headers: { one: "1", many: ["2", "3"] }, timestamp: String(START) },
          { key: null, value: "no key", timestamp: String(START + 1) },
          { key: "tombstone", value: null, timestamp: String(START + 2) },
        ],
        { compression },
      ),
    );
    told[name] = { sent, read: await readAll(topic, 3) };
  }
  return told;
}

async function acks_and_refusals() {
  const topic = await make("acks");
  const small = await make("small", 1, { "max.message.bytes": "200" });
  const keyed = await make("keyed", 1, { "cleanup.policy": "compact" });
  return using(kafka.producer({ retry: { retries: 0 } }), async (producer) => ({
    leader: await send(producer, topic, [{ value: "a" }], { acks: 1 }),
    all: await send(producer, topic, [{ value: "b" }], { acks: -1 }),
    idempotent: await using(kafka.producer({ idempotent: true }), (other) => send(other, topic, [{ value: "c" }, { value: "d" }])),
    large: await send(producer, small, [{ value: "x".repeat(500) }]),
    "no key": await send(producer, keyed, [{ value: "x" }]),
    read: values(await readAll(topic, 4)),
  }));
}

async function offsets() {
  const topic = await make("offsets", 2);
  await using(kafka.producer(), async (producer) => {
    for (let n = 0; n < 8; n++) await send(producer, topic, [{ partition: n % 2, value: `${n}`, timestamp: String(START + n) }]);
  });
  const told = {
    offsets: (await admin.fetchTopicOffsets(topic)).sort((a, b) => a.partition - b.partition),
    "by time": (await admin.fetchTopicOffsetsByTimestamp(topic, START + 3)).sort((a, b) => a.partition - b.partition),
    "after all": (await admin.fetchTopicOffsetsByTimestamp(topic, START + 99)).sort((a, b) => a.partition - b.partition),
  };
  const remove = (offset) => attempt(() => admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] }));
  told.removed = [await remove("2"), await remove("-1")];
  told.left = (await admin.fetchTopicOffsets(topic)).sort((a, b) => a.partition - b.partition);
  return told;
}

// -- transactions and groups --------------------------------------------------------------------

async function transactions() {
  const topic = await make("transactions");
  const group = named("tx-group");
  const producer = kafka.producer({ transactionalId: named("tx"), maxInFlightRequests: 1, idempotent: true });
  const told = await using(producer, async () => {
    for (const name of ["a", "b", "c"]) {
      const transaction = await producer.transaction();
      await send(transaction, topic, [{ value: `${name}0` }, { value: `${name}1` }]);
      await transaction.sendOffsets({
        consumerGroupId: group,
        topics: [{ topic, partitions: [{ partition: 0, offset: String(name.charCodeAt(0)) }] }],
      });
      if (name === "b") await transaction.abort();
      else await transaction.commit();
    }
    const rival = kafka.producer({ transactionalId: named("tx"), maxInFlightRequests: 1, idempotent: true });
    return using(rival, async () => {
      await (await rival.transaction()).abort();
      const late = await producer.transaction();
      return { fenced: await send(late, topic, [{ value: "late" }]) };
    });
  });
  told.committed = (await readAll(topic, 4, { readUncommitted: false })).map((row) => [row.offset, row.value]);
  told.all = (await readAll(topic, 6)).map((row) => [row.offset, row.value]);
  told.offsets = await eventually(() => admin.fetchOffsets({ groupId: group, topics: [topic] }), (seen) => seen[0].partitions[0].offset === "99");
  return told;
}

async function described(group) {
  const { groups } = await admin.describeGroups([named(group)]);
  return groups.map((row) => [
    row.errorCode,
    row.state,
    row.protocolType,
    row.protocol,
    row.members
      .map((member) => {
        const { assignment } = AssignerProtocol.MemberAssignment.decode(member.memberAssignment) || { assignment: {} };
        return [member.clientId, member.clientHost, Object.values(assignment).map((partitions) => partitions.length)];
      })
      .sort(),
  ]);
}

async function rebalance() {
  const topic = await make("shared", 4);
  const join = async (clientId) => {
    const consumer = client(clientId).consumer({
      groupId: named("shared"),
      sessionTimeout: 6_000,
      heartbeatInterval: 100,
      maxWaitTimeInMs: 50,
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({ eachMessage: async () => {} });
    return consumer;
  };
  const settled = (...sizes) =>
    eventually(
      () => described("shared"),
      ([row]) => row[1] === "Stable" && JSON.stringify(row[4].map((member) => member[2][0]).sort()) === JSON.stringify(sizes),
    );
  const first = await join("a");
  const told = { alone: await settled(4) };
  const second = await join("b");
  told.both = await settled(2, 2);
  await second.disconnect();
  told.again = await settled(4);
  told.busy = await attempt(() => admin.deleteGroups([named("shared")]));
  await first.disconnect();
  told.empty = await described("shared");
  return told;
}

async function commit_and_resume() {
  const topic = await make("resumed");
  const groupId = named("resume");
  await using(kafka.producer(), (producer) => send(producer, topic, [..."01234"].map((value) => ({ value }))));
  const read = (count, commitAt) => {
    const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 50, heartbeatInterval: 100, sessionTimeout: 6_000 });
    const rows = [];
    return using(consumer, async () => {
      await consumer.subscribe({ topics: [topic], fromBeginning: true });
      await consumer.run({ autoCommit: false, eachMessage: async (row) => void rows.push(shown(row)) });
      await eventually(async () => rows.length, (seen) => seen >= count, 5_000);
      if (commitAt) await consumer.commitOffsets([{ topic, partition: 0, offset: commitAt, metadata: "so far" }]);
      return values(rows);
    });
  };
  const told = { first: await read(5, "3"), rest: await read(2) };
  told.offsets = await admin.fetchOffsets({ groupId, topics: [topic] });
  told.listed = (await admin.listGroups()).groups.filter((row) => row.groupId === groupId);
  told.set = await attempt(() => admin.setOffsets({ groupId, topic, partitions: [{ partition: 0, offset: "1" }] }));
  told["after"] = await admin.fetchOffsets({ groupId, topics: [topic] });
  told.deleted = [
    await attempt(() => admin.deleteGroups([groupId])),
    await attempt(() => admin.deleteGroups([named("no-such")])),
    await described("resume"),
  ];
  return told;
}

const STEPS = { cluster, topics, configs, codecs, acks_and_refusals, offsets, transactions, rebalance, commit_and_resume };

async function main() {
  await admin.connect();
  for (const [step, run] of Object.entries(STEPS)) {
    if (only.length && !only.includes(step)) continue;
    const begun = Date.now();
    const late = new Promise((_, reject) => setTimeout(reject, STEP_MS, new Error("the step took too long")).unref());
    const outcome = await Promise.race([run(), late]).catch((error) => ({ raised: failure(error) }));
    console.log(JSON.stringify({ step, outcome }));
    console.error(`${step}: ${((Date.now() - begun) / 1000).toFixed(2)} s`);
  }
  process.exit(0);
}

main();
