import type { Bill, Candidate, Principal } from '../../engine/index.ts'
import type { SumState } from './counters.ts'
import type { FailoverCounters } from './failover-counters.ts'
import type { Ledger } from './ledger.ts'
import { overrunOf } from './overruns.ts'
import type { BudgetRule } from './rules.ts'
import type { Soon } from './soon.ts'
import type { LedgerTable } from './table.ts'

/** The money that an exchange of this process holds. */
export interface Reservation {
  readonly budgets: readonly BudgetRule[]
  /** Milliseconds since 1970. */
  readonly at: number
  /** In micro-USD. */
  readonly held: number
  /** What each candidate may cost. */
  readonly estimates: readonly Estimate[]
  /** What the input of the first one costs, in micro-USD. */
  readonly input: number
  /** Milliseconds for which the hold lasts. */
  readonly lasts: number
}

/** What a candidate may cost in total, in micro-USD. */
export interface Estimate {
  readonly candidate: Candidate
  readonly total: number
}

/** What is known at the end of an exchange. */
export interface Ended {
  readonly id: string
  /** When it began, in milliseconds since 1970. */
  readonly at: number
  readonly principal: Principal | undefined
  readonly bill: Bill | undefined
  /** Undefined: no answer has begun. */
  readonly model: Candidate | undefined
  /** What it was charged while it ran, in micro-USD. */
  readonly charged?: number
  /** It runs in the background: its pipeline may write a second row of the id, which the log leaves out with its charge. */
  readonly isRun?: boolean
}

/** A part of what a running exchange costs. */
export interface PartCharge extends Pick<Ended, 'id' | 'principal'> {
  /** Number of the part, from 1. */
  readonly part: number
  readonly micros: number
}

/** A budget that has nothing left. */
export interface UsedUp {
  readonly budget: BudgetRule
  readonly state: SumState
}

/** What an exchange was charged. */
export interface Charged {
  readonly micros: number
  /** Nobody knows the cost, so that the estimate was charged. */
  readonly estimated: boolean
  /** The budgets that were charged. */
  readonly budgets: readonly BudgetRule[]
}

/** Charges the exchanges of this process, each once. */
export class Charges {
  readonly #counting: Pick<FailoverCounters, 'reserve' | 'settle' | 'passOn'>
  readonly #ledger: Pick<Ledger, 'charge'>
  /** Has the row of an exchange carry its charge to the ledger. */
  carry: (row: LedgerTable) => void
  /** Hears which budgets were charged, or had too little left for a request. */
  charged: (budgets: readonly BudgetRule[]) => void = () => undefined
  readonly #reservations = new Map<string, Reservation>()

  constructor(counting: Pick<FailoverCounters, 'reserve' | 'settle' | 'passOn'>, ledger: Pick<Ledger, 'charge'>) {
    this.#counting = counting
    this.#ledger = ledger
    this.carry = (row) => ledger.charge(row)
  }

  /** Takes a hold that takes the place of an earlier one of the exchange. */
  reserved(id: string, reservation: Reservation): void {
    this.#reservations.set(id, reservation)
  }

  /** The hold of an exchange that nobody has charged yet. */
  openOf(id: string): Reservation | undefined {
    return this.#reservations.get(id)
  }

  /** The run of the exchange takes its hold over, in whatever process. */
  passOn(id: string, reservation: Reservation): Promise<void> {
    // The run may have reserved already, in this process.
    if (this.#reservations.get(id) === reservation) this.#reservations.delete(id)
    return this.#counting.passOn(id)
  }

  /** Writes what an exchange cost into the ledger, and ends its hold, if it has one. */
  charge(ended: Ended): Soon<Charged> {
    const { id, at, principal, model, charged: before = 0, isRun } = ended
    const reservation = this.#reservations.get(id)
    if (reservation) this.#reservations.delete(id)
    const due = chargeOf(ended, reservation)
    const charged = due.micros >= before ? due : { ...due, micros: before }
    const micros = charged.micros - before
    const estimate = charged.estimated ? undefined : estimateOf(model, reservation)
    const name = model?.model.name ?? null
    const learned = estimate === undefined ? undefined : { model: name, overrun: overrunOf(charged.micros, estimate) }
    const write = () => {
      this.charged(charged.budgets)
      if (micros !== 0) this.#write(rowOf(id, reservation?.at ?? at, principal, micros, learned), isRun)
      return charged
    }
    if (!reservation) return write()
    const sums = charged.budgets.map(({ bucket }) => bucket)
    const settled = this.#counting.settle({ id, sums, micros })
    // Its row takes a charge along that comes in the same turn, so nothing is written before shared counters have answered.
    return settled instanceof Promise
      ? inTime(settled)
          .finally(write)
          .then(() => charged)
      : write()
  }

  /**
   * Charges a part of what a running exchange costs, and looks whether its budgets admit more. Its hold goes on.
   * Rejects with `store_unavailable`.
   */
  async chargePart({ id, part, principal, micros }: PartCharge): Promise<UsedUp | undefined> {
    const reservation = this.#reservations.get(id)
    if (micros !== 0) this.#ledger.charge(rowOf(`${id}.${part}`, reservation?.at ?? Date.now(), principal, micros))
    if (!reservation) return undefined
    const { budgets, lasts, held } = reservation
    await this.#counting.settle({ id, sums: budgets.map(({ bucket }) => bucket), micros })
    this.charged(budgets)
    const again = { id, lasts, budgets, isRun: false, estimates: [Math.max(0, held - micros)], input: 0 }
    const reserved = await this.#counting.reserve(again)
    if ('refused' in reserved) return { budget: budgets[reserved.refused] as BudgetRule, state: reserved.state }
    this.#reservations.set(id, { ...reservation, at: reserved.at, held: reserved.held })
    return undefined
  }

  /**
   * Ends the hold of an exchange whose process was lost, or whose client left before an answer began, and charges its
   * input; nothing if no provider was asked.
   * Resolves to what was charged.
   */
  async chargeLost(
    { id, at, principal, isRun }: Omit<Ended, 'bill' | 'model'>,
    budgets: readonly BudgetRule[],
    wasAsked: boolean,
  ): Promise<Charged> {
    const reservation = this.#reservations.get(id)
    this.#reservations.delete(id)
    const sums = budgets.map(({ bucket }) => bucket)
    // Counters that do not know the hold, such as those of a process that is alone for now, do not know its input.
    const unknown = wasAsked ? (reservation?.input ?? 0) : 0
    const micros = (await this.#counting.settle({ id, sums, micros: wasAsked ? 'input' : 0 })) ?? unknown
    if (micros !== 0) this.#write(rowOf(id, at, principal, micros), isRun)
    this.charged(budgets)
    return { micros, estimated: micros > 0, budgets }
  }

  #write(row: LedgerTable, alone = false): void {
    if (alone) this.#ledger.charge(row)
    else this.carry(row)
  }
}

/** Milliseconds that a charge and its row wait for shared counters: a process that is killed loses what it has not written. */
const patience = 250

/** Settles with the promise, or resolves after the patience. */
async function inTime(settled: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, patience)))
  try {
    await Promise.race([settled, late])
  } finally {
    clearTimeout(timer)
  }
}

function rowOf(
  id: string,
  at: number,
  principal: Principal | undefined,
  micros: number,
  learned: Pick<LedgerTable, 'model' | 'overrun'> = unknown,
): LedgerTable {
  const isKey = principal?.kind === 'key'
  return {
    id,
    at: Math.round(at),
    key_id: isKey ? principal.id : null,
    member_id: (principal?.kind === 'member' ? principal.id : principal?.owner) ?? null,
    micros,
    model: learned.model,
    overrun: learned.overrun,
  }
}

const unknown = { model: null, overrun: null }

const none: readonly never[] = []

/** What the model was estimated to cost; undefined: no hold was made for it. */
function estimateOf(model: Candidate | undefined, reservation: Reservation | undefined): number | undefined {
  const name = model?.model.name
  return reservation?.estimates.findLast(({ candidate }) => candidate.model.name === name)?.total
}

/** The cost of the bill; where nobody knows it, the estimate. What failed before an answer began costs nothing. */
function chargeOf({ bill, model }: Ended, reservation: Reservation | undefined): Charged {
  const budgets = reservation?.budgets ?? none
  const micros = bill?.cost.micros
  if (micros !== undefined) return { micros, estimated: false, budgets }
  if (!reservation || (bill !== undefined && model === undefined)) return { micros: 0, estimated: false, budgets }
  const estimate = estimateOf(model, reservation) ?? reservation.held
  return { micros: estimate, estimated: true, budgets }
}
