import { defineStage, noConfig } from '../../engine/index.ts'
import { jsonReply, readQuery, timeText } from '../../engine/kit.ts'

/** Returns what the gateway runs on: version, database, key-value store, processes. No paths and no addresses. */
export default defineStage({
  name: 'get-system',
  summary: 'Return what the gateway runs on.',
  config: noConfig,
  needs: ['ingress'],
  provides: ['reply'],
  uses: ['processes', 'members', 'requests'],
  build:
    (_config, { running, keyValue, status, version }, { processes, members, requests }) =>
    async ({ ingress: { query } }) => {
      readQuery(query)
      const [all, bytes, migration] = await Promise.all([processes.list(), processes.size(), processes.migration()])
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
          update: null,
        }),
      }
    },
})
