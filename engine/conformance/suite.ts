import { answers } from './answers.ts'
import type { Check } from './check.ts'
import { closes } from './closes.ts'
import { declares } from './declares.ts'
import { fails } from './fails.ts'
import { refuses } from './refuses.ts'
import { triedWith } from './rig.ts'
import type { Subject } from './rig.ts'
import type { Operation } from '../spec/operation.ts'
import type { Offer } from '../spec/open-provider.ts'
import { sends } from './sends.ts'
import { takes } from './takes.ts'

/**
 * The requirements for a provider, however its upstream behaves. Every type is checked for its declarations and its
 * neutral answers; one with a `base_url` also over HTTP, against a misbehaving upstream.
 */
export function checksFor(subject: Subject): readonly Check[] {
  const { properties = {} } = subject.plugin.config as { properties?: object }
  const offers = subject.plugin.offers(triedWith(subject))
  const neutral = new Set<Operation>(offers.flatMap((offer) => (offer.protocol ? [] : [(offer as Offer).operation])))
  const overHttp = Object.hasOwn(properties, 'base_url') ? [...sends, ...takes, ...fails, ...closes, ...refuses] : []
  return [...declares, ...answers, ...overHttp].filter(
    ({ when: { field, answers: operation } }) =>
      (field === undefined || Object.hasOwn(properties, field)) && (operation === undefined || neutral.has(operation)),
  )
}
