import { expect } from 'chai'
import { Measurements } from '../../../plugins/experience/measured.ts'

const answer = { model: 'm', tier: 'MEDIUM', firstByte: null, output: null, input: null } as const
const minute = 60_000

describe('what is measured of models', () => {
  it('is usual before anything was', () => {
    const { reliability, ...others } = new Measurements().now('m', 'MEDIUM')
    expect(reliability).to.be.closeTo(0.98, 1e-12)
    expect(others).to.deep.equal({
      firstByte: null,
      slowFirstByte: null,
      output: null,
      inputRatio: 1,
      cacheReads: 0,
      cacheWrites: 0,
    })
  })

  it('has the reliability of the last 50 tries within 10 minutes', () => {
    const measured = new Measurements()
    measured.tried('m', false, 0)
    measured.tried('m', true, 5 * minute)
    expect(measured.now('m', 'MEDIUM', 6 * minute).reliability).to.be.closeTo((1 + 4.9) / 7, 1e-12)
    expect(measured.now('m', 'MEDIUM', 11 * minute).reliability).to.be.closeTo((1 + 4.9) / 6, 1e-12)
    for (let count = 0; count < 50; count++) measured.tried('m', false, 12 * minute)
    expect(measured.now('m', 'MEDIUM', 12 * minute).reliability).to.be.closeTo(4.9 / 55, 1e-12)
  })

  it('has medians of the last 50 answers, and those of output per tier from 5 on', () => {
    const measured = new Measurements()
    for (const output of [9, 1, 5, 7]) measured.answered({ ...answer, output, firstByte: output * 100 })
    expect(measured.now('m', 'MEDIUM')).to.include({ output: null, firstByte: 500, slowFirstByte: 900 })
    measured.answered({ ...answer, output: 3 })
    expect(measured.now('m', 'MEDIUM').output).to.equal(5)
    expect(measured.now('m', 'COMPLEX').output).to.equal(null)
    for (let count = 0; count < 50; count++) measured.answered({ ...answer, output: 800, firstByte: 20 })
    expect(measured.now('m', 'MEDIUM')).to.include({ output: 800, firstByte: 20, slowFirstByte: 20 })
  })

  it('compares input that was counted with what was estimated, and knows the part of caches', () => {
    const measured = new Measurements()
    const input = (estimated: number, counted: number, cacheRead = 0, cacheWrite = 0) =>
      measured.answered({ ...answer, input: { estimated, counted, cacheRead, cacheWrite } })
    input(100, 120, 60, 30)
    input(100, 100)
    expect(measured.now('m', 'SIMPLE')).to.include({ inputRatio: 1.1, cacheReads: 0.25, cacheWrites: 0.125 })
    for (let count = 0; count < 50; count++) input(1, 900)
    expect(measured.now('m', 'SIMPLE').inputRatio).to.equal(2)
    for (let count = 0; count < 50; count++) input(900, 1)
    expect(measured.now('m', 'SIMPLE').inputRatio).to.equal(0.5)
    input(100, 0)
    input(0, 100)
    expect(measured.now('m', 'SIMPLE').inputRatio, 'nothing to compare').to.equal(0.5)
  })

  it('takes at most ten of a key, and one of a conversation and of an ask', () => {
    const measured = new Measurements()
    const of = (key: string, conversation: string | null, output: number) => {
      const from = { key, conversation, ask: conversation }
      measured.tried('m', output < 1_000, 0, from)
      const input = { estimated: 100, counted: Math.min(150, output), cacheRead: 0, cacheWrite: 0 }
      measured.answered({ ...answer, output, firstByte: output, input }, 0, from)
    }
    for (const key of ['key 0', 'key 1', 'key 2', 'key 3', 'monitor', 'busy'])
      for (const ask of ['one', 'other']) measured.tried('another', true, 0, { key, conversation: ask, ask })
    for (let count = 0; count < 40; count++) of(`key ${count % 4}`, `own ${count}`, 100 + (count % 2))
    const before = measured.now('m', 'MEDIUM', 0)
    for (let count = 0; count < 1_000; count++) of('monitor', 'again and again', 5_000 + count)
    // One more value of fifty.
    const { output: usual, firstByte, inputRatio } = measured.now('m', 'MEDIUM', 0)
    expect([usual, firstByte]).to.deep.equal([101, 101])
    expect(inputRatio).to.be.closeTo((40 * 1.005 + 1.5) / 41, 1e-9)
    expect(measured.now('m', 'MEDIUM', 0).reliability).to.be.closeTo((40 + 4.9) / 46, 1e-12)
    expect(before).to.include({ output: 100, firstByte: 100 })
    for (let count = 0; count < 1_000; count++) of('busy', `new ${count}`, 9_000)
    for (let count = 0; count < 1_000; count++) of('busy', null, 9_000)
    const { output, slowFirstByte, reliability } = measured.now('m', 'MEDIUM', 0)
    expect([output, slowFirstByte]).to.deep.equal([101, 9_000])
    // 39 of the four keys, ten of the busy one, and the one that is repeated.
    expect(reliability).to.be.closeTo((39 + 4.9) / 55, 1e-12)
    // The newest of a conversation counts, and of a key the newest ten.
    for (let count = 0; count < 10; count++) of('busy', `newer ${count}`, 100)
    of('monitor', 'again and again', 100)
    expect(measured.now('m', 'MEDIUM', 0)).to.include({ slowFirstByte: 101 })
  })

  it('takes one of an ask that a key repeats after it has asked something else, in whatever conversation', () => {
    const measured = new Measurements()
    const told = (key: string, conversation: string, ask: string | null, output: number) => {
      const from = { key, conversation, ask }
      measured.tried('m', output < 1_000, 0, from)
      measured.answered({ ...answer, output, firstByte: output }, 0, from)
    }
    for (let count = 0; count < 12; count++) told(`key ${count % 2}`, `own ${count}`, `ask ${count}`, 100 + count)
    const shown = () => measured.now('m', 'MEDIUM', 0)
    expect(shown()).to.include({ output: 106, slowFirstByte: 111 })
    told('monitor', 'first', 'something else', 100)
    for (const ask of ['Say OK.', null]) {
      const before = shown()
      told('monitor', `${ask}`, ask, 9_000)
      const once = shown()
      for (let count = 0; count < 1_000; count++) told('monitor', `${ask} ${count}`, ask, 9_000)
      expect(shown()).to.deep.equal(once).and.not.to.deep.equal(before)
    }
    // A value that repeats a conversation and an ask takes the place of both.
    told('monitor', 'first', 'Say OK.', 1)
    for (let count = 0; count < 3; count++) told('monitor', `${count}`, 'another', 2)
    told('monitor', 'null 999', null, 3)
    expect(shown()).to.include({ output: 104, slowFirstByte: 111 })
  })

  it('counts for everybody once its key has asked a second thing, and until then for that key alone', () => {
    const measured = new Measurements()
    const told = (key: string, ask: string, output: number, now = 0) => {
      const from = { key, conversation: `${key} ${ask} ${output}`, ask }
      measured.tried('m', false, now, from)
      measured.answered({ ...answer, output, firstByte: output }, now, from)
    }
    const seenBy = (key?: string) => {
      const { output, firstByte, reliability } = measured.now('m', 'MEDIUM', 0, key)
      return [output, firstByte, reliability < 0.9]
    }
    const nothing = [null, null, false]
    for (let count = 1; count < 8; count++) told('monitor', 'Say OK.', 100 * count)
    expect([seenBy('monitor'), seenBy('other'), seenBy()]).to.deep.equal([
      [null, 700, true],
      nothing,
      [null, 700, true],
    ])
    told('other', 'one', 10)
    expect(seenBy('monitor')).to.deep.equal([null, 700, true])
    told('other', 'two', 20)
    expect([seenBy('monitor'), seenBy('other'), seenBy()]).to.deep.equal(
      Array.from({ length: 3 }, () => [null, 10, true]),
    )
    // With exploration off, nothing changes within the hour.
    const ofHour = (key: string, now: number) => measured.hour('m', 'MEDIUM', now, key).firstByte
    const hour = 60 * minute
    expect([ofHour('monitor', hour - 1), ofHour('monitor', hour), ofHour('new', hour)]).to.deep.equal([null, 10, 10])
    for (const name of ['m', undefined]) {
      measured.forget(name)
      expect(seenBy('monitor')).to.deep.equal(nothing)
    }
  })

  it('is forgotten per model', () => {
    const measured = new Measurements()
    for (const model of ['m', 'n', 'o']) measured.tried(model, false)
    measured.forget('m')
    expect(['m', 'n'].map((model) => measured.now(model, 'SIMPLE').reliability < 0.97)).to.deep.equal([false, true])
    measured.forget(undefined)
    expect(measured.now('n', 'SIMPLE').reliability).to.be.closeTo(0.98, 1e-12)
  })

  it('is what it was at the last full hour for those that ask for that', () => {
    const measured = new Measurements()
    const answered = (output: number, now: number) => {
      for (let count = 0; count < 5; count++)
        measured.answered({ ...answer, output, firstByte: output * 10, input: null }, now)
    }
    const seenAt = (now: number) => {
      const { output, firstByte } = measured.hour('m', 'MEDIUM', now)
      return [output, firstByte]
    }
    answered(10, 61 * minute)
    expect(seenAt(119 * minute)).to.deep.equal([null, null])
    expect(seenAt(120 * minute)).to.deep.equal([10, 100])
    answered(900, 121 * minute)
    expect(seenAt(122 * minute)).to.deep.equal([10, 100])
    expect(measured.now('m', 'MEDIUM').output).to.equal(10)
    expect(measured.hour('m', 'SIMPLE', 122 * minute).output).to.equal(null)
    answered(900, 179 * minute)
    expect(seenAt(180 * minute)).to.deep.equal([900, 9000])
    measured.tried('m', false, 180 * minute)
    expect(measured.hour('m', 'MEDIUM', 180 * minute).reliability, 'failures count at once').to.be.below(0.9)
  })
})
