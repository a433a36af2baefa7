import type { Registry } from '../config/registry.ts'
import { asText } from '../spec/json.ts'
import type { JsonObject } from '../spec/json.ts'
import type { AnyStage, Duty, Payment } from '../spec/stage.ts'
import type { Debt } from './path-states.ts'

/** The duties that the stages of a configuration owe and pay. */
export class Duties {
  /** The names of all that are owed. */
  readonly names: ReadonlySet<string>
  readonly #stages: ReadonlyMap<string, AnyStage>
  /** By the name of the stage. */
  readonly #debts: ReadonlyMap<string, readonly Debt[]>
  readonly #about: ReadonlyMap<string | undefined, readonly string[]>

  constructor({ stages }: Registry) {
    this.#stages = stages
    this.#debts = new Map([...stages.values()].map((stage) => [stage.name, debtsOf(stage)]))
    const all = [...this.#debts.values()].flat()
    this.names = new Set(all.map(({ duty }) => duty))
    const about = Map.groupBy(all, ({ of: slot }) => slot)
    this.#about = new Map([...about].map(([slot, debts]) => [slot, debts.map(({ duty }) => duty)]))
  }

  owedBy({ name }: AnyStage): readonly Debt[] {
    return this.#debts.get(name) ?? []
  }

  /** The duties that are owed again when a slot is given anew. */
  about(slot: string): readonly string[] {
    return this.#about.get(slot) ?? []
  }

  /** What to do about a duty that nothing pays: the line to add, or what a plugin has to say. */
  remedy(duty: string, where: string): string {
    const payers = [...this.#stages.values()].filter(({ pays = [] }) => pays.some((one) => dutyOf(one) === duty))
    const payer = payers.find(({ name }) => name === duty) ?? payers[0]
    if (payer) return `add "${lineOf(payer, duty)}" ${where}`
    const says = this.#stages.has(duty) ? `the stage "${duty}" must say` : 'a stage that pays it says'
    return `no stage pays it: ${says} "pays: ['${duty}']"`
  }
}

/** Duties that can be paid in `finally` are paid in the order of the list. */
function debtsOf({ name: by, owes = [] }: AnyStage): readonly Debt[] {
  const list = owes.map((one): Duty => (typeof one === 'string' ? { duty: one } : one))
  const isLate = ({ at = 'finally' }: Duty) => at === 'finally'
  return list.map((one, index) => {
    const following = isLate(one) ? list.slice(index + 1).filter(isLate) : []
    return { ...one, by, ahead: [...following.map(({ duty }) => duty), ...(one.ahead ?? [])] }
  })
}

/** The duties that a stage with this configuration pays. */
export function paidBy({ pays = [] }: AnyStage, config: JsonObject): readonly string[] {
  const isGiven = (one: Payment) =>
    typeof one === 'string' || Object.entries(one.given).every(([field, value]) => config[field] === value)
  return pays.filter(isGiven).map(dutyOf)
}

function dutyOf(payment: Payment): string {
  return typeof payment === 'string' ? payment : payment.duty
}

/** The line of a pipeline that runs a stage, so that it pays a duty. */
function lineOf({ name, config, pays = [] }: AnyStage, duty: string): string {
  const { required = [], properties = {} } = config as {
    readonly required?: readonly string[]
    readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>
  }
  const payment = pays.find((one) => dutyOf(one) === duty)
  const given = typeof payment === 'object' ? payment.given : {}
  const isUsual = (field: string) => properties[field]?.default === given[field]
  const fields = [...new Set([...required, ...Object.keys(given).filter((field) => !isUsual(field))])]
  const written = fields.map((field) => `${field}: ${field in given ? asText(given[field]) : '…'}`)
  return written.length === 0 ? `- ${name}` : `- ${name}: { ${written.join(', ')} }`
}
