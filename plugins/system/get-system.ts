import { defineAction } from '../../engine/index.ts'
import { parsedJson, readPublic, shape, timeText } from '../../engine/kit.ts'

/** The answer is kept for other clients, so it does not depend on this one. */
const anyone = { onAbort: () => () => undefined }

/** Maximum bytes of the answer that names the newest version, and milliseconds for it. */
const most = { limit: 1024 * 1024, deadline: 3_000 }

/** Answers what the gateway runs on: version, database, key-value store, processes. No paths and no addresses. */
export default defineAction({
  name: 'get-system',
  summary: 'Answer what the gateway runs on.',
  route: 'GET /api/system/info',
  access: { role: 'admin' },
  answer: shape.object({
    name: shape.text('The name of the product.'),
    version: shape.text('Its version.'),
    node: shape.text('The version of Node.js.'),
    started_at: shape.time('When the process started.'),
    platform: shape.text('Operating system and processor.'),
    instance: shape.text('Id of the gateway, which its processes share.'),
    database: shape.object(
      {
        dialect: shape.text('sqlite or postgres.'),
        bytes: shape.orNull(shape.integer('Its size in bytes.')),
        migration: shape.orNull(shape.text('The last migration.')),
      },
      {},
      'The database.',
    ),
    key_value: shape.object(
      {
        configured: shape.flag('Whether there is one.'),
        state: shape.word(['up', 'down', 'absent'], 'Whether it can be used.'),
      },
      {},
      'The key-value store.',
    ),
    processes: shape.list(
      shape.object({
        id: shape.text('Its id.'),
        pid: shape.integer('Its number on its machine.'),
        started_at: shape.time('When it started.'),
        config_version: shape.text('The version of the configuration that it runs.'),
      }),
      'The processes of the gateway.',
    ),
    config: shape.object({ version: shape.text('Its version.') }, {}, 'The running configuration.'),
    log: shape.object(
      { queued: shape.integer('Rows that wait.'), dropped_rows: shape.integer('Rows that were lost.') },
      {},
      'The request log.',
    ),
    master_secret: shape.word(['environment', 'file'], 'Where the master secret comes from.'),
    console: shape.flag('Unused; always false.'),
    update: shape.orNull(
      shape.object(
        {
          checked_at: shape.time('When it was looked for.'),
          latest: shape.orNull(shape.text('The newest version; null: it could not be learned.')),
          newer: shape.flag('Whether it is newer than this one.'),
        },
        {},
        'The newest version; null: nobody is asked.',
      ),
    ),
  }),
  uses: ['processes', 'members', 'requests', 'updates'],
  async run(_input, { processes, members, requests, updates }, _scope, host) {
    const { running, keyValue, status } = host
    const [all, bytes, migration, update] = await Promise.all([
      processes.list(),
      processes.size(),
      processes.migration(),
      updates.latest(host.version, async (url) => {
        const answer = await readPublic(
          url,
          { param: 'updates.url', what: 'the newest version', ...most },
          host,
          anyone,
        )
        return parsedJson(answer.toString())
      }),
    ])
    const { pending, dropped } = requests.counters
    const isDown = status.degraded.includes('key_value')
    return {
      name: 'sluice',
      version: host.version,
      node: process.versions.node,
      started_at: timeText(Math.round(performance.timeOrigin)),
      platform: `${process.platform} ${process.arch}`,
      instance: members.store.instance,
      database: { dialect: processes.dialect, bytes, migration },
      key_value: { configured: keyValue.shared, state: keyValue.shared ? (isDown ? 'down' : 'up') : 'absent' },
      processes: all.map(({ id, pid, startedAt, configVersion }) => ({
        id,
        pid,
        started_at: timeText(startedAt),
        config_version: configVersion,
      })),
      config: { version: running.state().version },
      log: { queued: pending, dropped_rows: dropped },
      master_secret: processes.masterSecret,
      console: false,
      update,
    }
  },
})
