import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, parsedJson, readPublic, readQuery, timeText } from '../../engine/kit.ts'

/** The answer is kept for other clients, so it does not depend on this one. */
const anyone = { onAbort: () => () => undefined }

/** Maximum bytes of the answer that names the newest version, and milliseconds for it. */
const most = { limit: 1024 * 1024, deadline: 3_000 }

/** Returns what the gateway runs on: version, database, key-value store, processes. No paths and no addresses. */
export default defineStage({
  name: 'get-system',
  summary: 'Return what the gateway runs on.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['processes', 'members', 'requests', 'updates'],
  build:
    (_config, host, { processes, members, requests, updates }) =>
    async ({ ingress: { query } }) => {
      readQuery(query)
      const { running, keyValue, status, version } = host
      const [all, bytes, migration, update] = await Promise.all([
        processes.list(),
        processes.size(),
        processes.migration(),
        updates.latest(version, async (url) => {
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
        reply: jsonReply({
          name: 'sluice',
          version,
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
        }),
      }
    },
})
