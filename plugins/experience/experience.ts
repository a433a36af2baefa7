import { defineService } from '../../engine/index.ts'
import type { Services } from '../../engine/index.ts'
import { ChangePoll } from '../../engine/kit.ts'
import { incumbentOf, keepIncumbent } from './continuity.ts'
import { Lessons } from './lessons.ts'
import { migrations } from './table.ts'
import type { Experience } from './view.ts'

/** Milliseconds between two looks for what other processes learned. */
const poll = 5_000
const hour = 3_600_000
/** One process deletes old rows at a time, and not twice within the hour. */
const lease = 'experience.clean'

/** Learns how good models are, and how they behave. */
export default defineService({
  name: 'experience',
  summary: 'What the gateway has learned of the models that it chooses among.',
  uses: ['audit', 'conversations', 'smart_routing'],
  migrations,
  open(host) {
    const lessons = new Lessons(host)
    const following = new ChangePoll({
      poll: () => lessons.follow(),
      changed: () => undefined,
      unknown: 'what other processes learned of models is not known',
    })
    const clean = async () => {
      try {
        const taken = await host.keyValue.set(lease, Buffer.from('1'), { ttl: hour - 60_000, version: null })
        if (taken) await lessons.rewards.clean()
      } catch (error) {
        host.log.warn({ err: error }, 'old experience cannot be deleted; trying again')
      }
    }
    let timers: readonly NodeJS.Timeout[] = []
    return {
      async configure(_settings, { audit, conversations, smart_routing: { enabled, settings } }) {
        if (enabled) await following.look()
        const live = () => {
          timers.forEach(clearInterval)
          lessons.isImplicit = settings.experience.implicit
          timers = enabled
            ? [setInterval(() => void following.look(), poll).unref(), setInterval(() => void clean(), hour).unref()]
            : []
        }
        return { view: experienceOf(lessons, conversations, audit), live }
      },
      status: () => following.problem,
      async close() {
        timers.forEach(clearInterval)
        await lessons.pulls.write()
      },
    }
  },
})

function experienceOf(
  lessons: Lessons,
  conversations: Services['conversations'],
  audit: Services['audit'],
): Experience {
  return {
    posterior: (place, prior) => lessons.posterior(place, prior),
    outcomes: (model, tier, of, key) => lessons.measurements[of](model, tier, Date.now(), key),
    get spent() {
      return lessons.pulls.spent
    },
    pulled: (pull) => lessons.pulls.add(pull),
    seen: (seen) => lessons.see(seen),
    observed: (decision, source, reward) => lessons.observe(decision, source, reward),
    reward: (decision, signal, transaction) => lessons.reward(decision, signal, transaction),
    incumbent: (conversation) => incumbentOf(conversations, conversation),
    keep: (conversation, incumbent) => keepIncumbent(conversations, conversation, incumbent),
    known: () => lessons.known(),
    reset: (model, by) =>
      lessons.reset(model, (transaction, reset) => {
        const target = model === undefined ? {} : { target: { type: 'model', id: model, name: model } }
        return audit.append(transaction, { action: 'experience.reset', by, ...target, details: { reset } })
      }),
  }
}
