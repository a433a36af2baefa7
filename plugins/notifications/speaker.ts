import type { ServiceHost } from '../../engine/index.ts'
import { Causes } from './causes.ts'
import type { OpenCause, Saying } from './causes.ts'
import type { Cause, Notice } from './cause.ts'
import type { IsOf, Kept } from './kept.ts'
import { ends } from './own-causes.ts'
import { Peers } from './peers.ts'
import type { Sources } from './sources.ts'
import type { Targets } from './targets.ts'

/** What is kept for whichever process speaks for all that use a database. */
const all = ''
const isForAll: IsOf = (speaker) => speaker === all
/** Milliseconds for which an undelivered notice is tried on by another process. */
const current = 600_000

interface Parts {
  readonly kept: Kept
  readonly sources: Pick<Sources, 'read'>
  readonly targets: Pick<Targets, 'namesFor' | 'queue' | 'restore' | 'heard' | 'isFailing' | 'forget'>
  /** How this process is called where it speaks for itself. */
  readonly name: string
}

/** A cause that holds; one that was not said yet has no id. */
export interface ShownCause extends Cause {
  readonly id: string | undefined
  readonly saidAt: number | undefined
}

/**
 * Says causes: this process speaks for all that share its stores while it holds the lease; where there is none, or it
 * cannot be asked for, for itself and with its name.
 */
export class Speaker {
  readonly #host: Pick<ServiceHost, 'keyValue' | 'firstProcess' | 'dialect' | 'log'>
  readonly #parts: Parts
  readonly #peers: Peers
  /** Said for all, and said for this process alone. */
  readonly #shared = new Causes()
  readonly #own = new Causes()
  #saying: Saying = { hold: 0, repeat: Infinity }
  #leads = false
  /** Whether it goes on with what was said before it began. */
  #goesOn = false
  #looking: Promise<void> | undefined
  #isClosed = false

  constructor(host: Pick<ServiceHost, 'keyValue' | 'firstProcess' | 'rows' | 'dialect' | 'log'>, parts: Parts) {
    this.#host = host
    this.#parts = parts
    this.#peers = new Peers(host)
  }

  follow(saying: Saying): void {
    this.#saying = saying
  }

  /** Looks at what is wrong, and says what is to be said. Never rejects. */
  look(): Promise<void> {
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#host.log.warn({ err: error }, 'what is wrong cannot be said; trying again'))
      .finally(() => (this.#looking = undefined))
    return this.#looking
  }

  /** What holds now, here and in the other processes. */
  async open(): Promise<readonly ShownCause[]> {
    const here = await this.#parts.sources.read(this.#said())
    const elsewhere = await this.#peers.others().catch(() => [])
    const kept = await this.#parts.kept.open(isForAll).catch(() => [])
    const known = new Map([...kept, ...this.#own.all, ...this.#shared.all].map((one) => [one.key, one]))
    return union(here, elsewhere).map((cause) => {
      const { id, since, saidAt } = known.get(cause.key) ?? {}
      return { ...cause, ...(since !== undefined && { since }), id: saidAt === undefined ? undefined : id, saidAt }
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#looking
    await this.#peers.leave(this.#leads).catch(() => undefined)
  }

  #said(): readonly OpenCause[] {
    return [...this.#own.all, ...this.#shared.all]
  }

  async #look(): Promise<void> {
    const here = await this.#parts.sources.read(this.#said())
    if (this.#isClosed) return
    await this.#goOn()
    if (!this.#isShared) return this.#speakAlone(here)
    try {
      await this.#peers.tell(here)
      await this.#turn(await this.#peers.leads())
    } catch {
      // The stores are away, so that this process speaks for itself, and others do.
      return this.#speakAlone(here.filter(({ key }) => !this.#shared.has(key)))
    }
    // What it has said for itself ends with it, too.
    const alone = here.filter(({ key }) => this.#own.has(key))
    await this.#say(this.#own, alone, this.#parts.name)
    if (!this.#leads) return
    const others = await this.#peers.others()
    await this.#say(
      this.#shared,
      union(here, others).filter(({ key }) => !this.#own.has(key)),
      all,
    )
    if (this.#parts.targets.isFailing) this.#parts.targets.heard(await this.#parts.kept.targets().catch(() => []))
  }

  /** Takes over from the process that spoke before, or stops to speak for all. */
  async #turn(leads: boolean): Promise<void> {
    if (leads && !this.#leads) await this.#takeOver(this.#shared, isForAll)
    if (!leads) {
      this.#shared.clear()
      // The process that speaks knows how targets do.
      this.#parts.targets.forget()
    }
    this.#leads = leads
  }

  async #speakAlone(here: readonly Cause[]): Promise<void> {
    const { name } = this.#parts
    const named = here.map((cause) => ({ ...cause, facts: { ...cause.facts, process: name } }))
    await this.#say(this.#own, named, this.#isOneGateway && !this.#isShared ? all : name)
  }

  /** Goes on with what was said before a restart, whether the stores were there then, and are now, or not. */
  async #goOn(): Promise<void> {
    if (this.#goesOn) return
    const { kept, name } = this.#parts
    const { firstProcess } = this.#host
    // All processes of a gateway have one name.
    if (firstProcess === undefined || (await firstProcess.ask(ends, 'inherits')) === true) {
      const isOwn: IsOf = (speaker) => (this.#isOneGateway ? speaker !== all || !this.#isShared : speaker === name)
      await this.#takeOver(this.#own, isOwn)
      // Nobody else can have the lease, or get it, but another process of this gateway, which then goes on with these.
      if (this.#isOneGateway && this.#isShared) this.#shared.restore(await kept.open(isForAll), Date.now())
    }
    this.#goesOn = true
  }

  /** A file of SQLite has one gateway, whose host may have another name after a restart, as in a container. */
  get #isOneGateway(): boolean {
    return this.#host.dialect === 'sqlite'
  }

  /** Whether other processes may see the same causes, and know who speaks. */
  get #isShared(): boolean {
    return this.#host.keyValue.shared || this.#host.firstProcess !== undefined
  }

  async #takeOver(causes: Causes, isOf: IsOf): Promise<void> {
    const now = Date.now()
    causes.restore(await this.#parts.kept.open(isOf), now)
    await this.#parts.kept.gone(this.#parts.targets.restore(await this.#parts.kept.targets()))
    for (const [notice, target] of await this.#parts.kept.waiting(isOf, now - current))
      this.#parts.targets.queue(notice, target)
  }

  async #say(causes: Causes, open: readonly Cause[], speaker: string): Promise<void> {
    const notices = causes.step(open, Date.now(), this.#saying)
    if (notices.length === 0) return
    const { kept, targets } = this.#parts
    const namesFor = (notice: Notice) => targets.namesFor(notice)
    // People are told all the same when it cannot be kept: that the database is away may be what there is to say.
    await kept
      .said(speaker, notices, namesFor)
      .catch((error: unknown) => this.#host.log.warn({ err: error }, 'what was said could not be kept'))
    for (const notice of notices) for (const name of namesFor(notice)) targets.queue(notice, name)
  }
}

/** Causes of several processes, each once. */
function union(here: readonly Cause[], others: readonly Cause[]): readonly Cause[] {
  return [...new Map([...others, ...here].map((cause) => [cause.key, cause])).values()]
}
