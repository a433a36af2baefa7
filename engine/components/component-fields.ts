import { didYouMean } from '../config/suggest.ts'

const listed = (text: string): readonly string[] => text.split(' ')

/** The fields of a declaration of each kind. The types of a plugin are not checked when it is loaded. */
const fields = {
  plugin: listed(
    'contract stability stages actions actionsOf errors codecs providers signals guards slots services commands records',
  ),
  stage: listed(
    'stability config needs reads insists provides gives assures settles owes pays uses timeout readsBody body bodyLimit check build unreached guards notAfter ends',
  ),
  action: listed(
    'stability route access query body bodyLimit answer status errors writes stream uses runs timeout page before run',
  ),
  provider: listed('stability config secrets destinations presets uses offers open'),
  signal: listed('module quick'),
  guard: listed('stability config secrets destinations uses whole check longest build'),
  slot: listed('fields candidates'),
  service: listed('stability settings section secrets uses migrations seals check variables greet rotate open'),
  command: listed('group options arguments words uses pipelines run'),
  record: listed(
    'place schema secrets destinations aliases unique patterns holds optional switch typed check show always complete lists note ' +
      'route role without page shows errors',
  ),
  codec: listed(
    'protocol operation content idHeader answerHeaders clientHeader headers located schema check mistaken instruct ' +
      'outputLimits answerCounts choices head error keepalive socket subprotocol request reply events address framing answers traits failed ' +
      'meter relay fail close keeper',
  ),
} as const

const ofAll = ['kind', 'name', 'summary']

/** A field of a declaration that means nothing, with the one that was probably meant. */
export function problemOfFields(kind: unknown, declared: Readonly<Record<string, unknown>>): string | undefined {
  if (!isKind(kind)) return undefined
  const known = [...ofAll, ...fields[kind]]
  const unknown = Object.keys(declared).find((field) => !known.includes(field))
  if (unknown === undefined) return undefined
  const name = String(declared['name'] ?? declared['protocol'])
  return `${kind} "${name}": unknown field "${unknown}"${didYouMean(unknown, known)}`
}

function isKind(kind: unknown): kind is keyof typeof fields {
  return typeof kind === 'string' && Object.hasOwn(fields, kind)
}
