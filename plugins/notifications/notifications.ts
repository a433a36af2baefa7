import { randomUUIDv7 } from 'node:crypto'
import { hostname } from 'node:os'
import { defineService } from '../../engine/index.ts'
import type { ServiceConfiguration } from '../../engine/index.ts'
import { duration, refuseBeyond } from '../../engine/kit.ts'
import type { Notice } from './cause.ts'
import { Kept } from './kept.ts'
import type { Sent } from './kept.ts'
import { ownSources } from './own-causes.ts'
import { checkSettings, settings } from './settings.ts'
import type { Target } from './settings.ts'
import { Sources } from './sources.ts'
import type { Source } from './sources.ts'
import { Speaker } from './speaker.ts'
import type { ShownCause } from './speaker.ts'
import { migrations } from './table.ts'
import type { TargetsTable } from './table.ts'
import { Targets } from './targets.ts'
import type { Outcome } from './targets.ts'

/** Says what is wrong, where people read. */
export interface Notifications {
  readonly targets: readonly Target[]
  /** Shares of a budget that are told when they are spent, from 0 to 1. */
  readonly budgetAt: readonly number[]
  /** Looks at a source from now on; a later one of the same owner replaces it. */
  watch(owner: string, source: Source): void
  /** What is wrong now, in every process, said or not. */
  open(): Promise<readonly ShownCause[]>
  /** What was said lately, newest first, and how targets do. */
  delivery(): Promise<{ readonly sent: readonly Sent[]; readonly targets: readonly TargetsTable[] }>
  /** Posts a test to a target, once. */
  test(target: Target): Promise<Outcome>
}

declare module '../../engine/index.ts' {
  interface Services {
    notifications: Notifications
  }
}

/** Milliseconds between two looks at what is wrong. */
const looks = 1_000

/** Tells people when something is wrong, while it lasts, and when it is over. */
export default defineService({
  name: 'notifications',
  summary: 'What is wrong now, and who is told.',
  settings,
  // Whoever knows the address of a target in Slack may write there.
  secrets: ['secret', 'url'],
  migrations,
  check: checkSettings,
  open(host) {
    const kept = new Kept(host)
    const targets = new Targets(host, kept)
    const sources = new Sources(host)
    for (const [owner, source] of Object.entries(ownSources(host))) sources.watch(owner, source)
    const speaker = new Speaker(host, { kept, sources, targets, name: hostname() })
    let timer: NodeJS.Timeout | undefined
    return {
      configure({ to, budget_at: budgetAt, hold, repeat }, _views, { listen, isDeclared }) {
        const view: Notifications = {
          targets: to,
          budgetAt,
          watch: (owner, source) => sources.watch(owner, source),
          open: () => speaker.open(),
          async delivery() {
            const [sent, states] = await Promise.all([kept.sent(), kept.targets()])
            return { sent, targets: states.filter((state) => targets.isOf(state)) }
          },
          test: (target) => targets.once(testOf(Date.now()), target),
        }
        return {
          view,
          live() {
            const gone = targets.follow(to, addressOf(listen), isDeclared('notifications') ? 'private' : 'public')
            kept.gone(gone).catch((error: unknown) => host.log.debug({ err: error }, 'targets that are gone are kept'))
            speaker.follow({ hold: duration(hold), repeat: duration(repeat) })
            clearInterval(timer)
            // Nobody is told of anything, so nothing is looked at but when somebody asks.
            timer = to.length === 0 ? undefined : setInterval(() => void speaker.look(), looks).unref()
            // The other services go live in the same turn.
            if (timer) setImmediate(() => void speaker.look())
          },
        }
      },
      async admit({ type, name, after }, next) {
        if (type !== 'section' || name !== 'notifications' || after === undefined) return
        for (const [path, text] of Object.entries(next.reveal(type, name) ?? {})) {
          const url = path.endsWith('.url') ? URL.parse(text) : null
          if (url) await refuseBeyond('public', url, path)
        }
      },
      status: () => {
        const name = targets.failing
        return name === undefined ? undefined : `the target "${name}" has not been reached for an hour`
      },
      async close() {
        clearInterval(timer)
        await speaker.close()
        await targets.close()
      },
    }
  },
})

/** Where clients reach the gateway, without a slash at its end. */
function addressOf({ host, port, url }: ServiceConfiguration['listen']): string {
  if (url !== undefined) return url.replace(/\/$/, '')
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

function testOf(at: number): Notice {
  const id = randomUUIDv7()
  const facts = { host: hostname() }
  const subject = 'Somebody tries whether this target is reached'
  return {
    message: `msg_${id}`,
    id,
    cause: 'test',
    key: 'test',
    subject,
    facts,
    path: '/settings/notifications',
    state: 'begin',
    at,
    since: at,
  }
}
