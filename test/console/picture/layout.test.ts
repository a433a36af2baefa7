import { expect } from 'chai'
import { layout } from '../../../console/src/picture/layout.ts'
import type { Layout } from '../../../console/src/picture/layout.ts'
import { everyStep } from '../../../console/src/picture/plan.ts'
import type { Plan } from '../../../console/src/picture/plan.ts'
import { lanes } from '../../../console/src/picture/threads.ts'
import { matches } from '../../golden/files.ts'
import { startAdmin } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'

interface Pipeline extends Plan {
  readonly name: string
  readonly file: string
}

/** A picture as lines of text, which a reader can compare. */
function drawn({ boxes, threads, arrows, wires, labels, times, width, height }: Layout): string[] {
  return [
    `${width} x ${height}, times at ${times}`,
    ...boxes.map(
      ({ kind, step, level, x, y, width: w, height: h, row, last }) =>
        `${kind} ${step.path} level ${level} at ${x},${y} size ${w}x${h}${row ? '' : ' no row'}${last ? ' last' : ''}`,
    ),
    ...threads.map(
      ({ slot, lane, from, to, read, dotted, label, marks }) =>
        `thread ${slot} lane ${lane} ${from}..${to}..${read}${dotted ? ' dotted' : ''} named at ${label}: ${marks
          .map((mark) => `${mark.path} ${mark.does} at ${mark.y} to ${mark.to}`)
          .join('; ')}`,
    ),
    ...arrows.map(({ path, x, from, to }) => `again ${path} at ${x} from ${from} to ${to}`),
    ...wires.map(
      ({ points, arm, dotted }) =>
        `wire ${points.map((point) => point.join(',')).join(' ')}${arm ? ` of ${arm}` : ''}${dotted ? ' dotted' : ''}`,
    ),
    ...labels.map(({ x, y, text, arm }) => `label ${x},${y} ${text}${arm ? ` of ${arm}` : ''}`),
  ]
}

describe('the picture of each shipped pipeline', () => {
  let gateway: AdminGateway
  const pipelines: Pipeline[] = []
  before(async () => {
    gateway = await startAdmin()
    const { body } = await gateway.asAdmin('GET /api/config/pipelines')
    for (const { name } of body['data'] as unknown as readonly { readonly name: string }[]) {
      const answer = await gateway.asAdmin(`GET /api/config/pipelines/${name}`)
      pipelines.push(answer.body as unknown as Pipeline)
    }
  })
  after(() => gateway.close())

  it('has the places that its golden file says', () => {
    const files = Map.groupBy(pipelines, ({ file }) => file)
    expect(files.size).to.be.greaterThan(30)
    for (const [file, own] of files) {
      const name = file.replace('pipelines/', '').replace('/', '-').replace('.yaml', '.json')
      const pictures = Object.fromEntries(own.map((one) => [one.name, drawn(layout(one))]))
      matches(`../console/picture/golden/${name}`, pictures)
    }
  })

  it('has one box for each step, and no two boxes in one place', () => {
    for (const { name, ...plan } of pipelines) {
      const { boxes } = layout(plan)
      const paths = boxes.map(({ step }) => step.path)
      expect(paths, name).to.have.members(everyStep([...plan.plan, ...plan.finally]).map(({ path }) => path))
      const leaves = boxes.filter(({ kind }) => kind === 'stage' || kind === 'switch')
      for (const [index, one] of leaves.entries())
        for (const other of leaves.slice(index + 1)) {
          const beside = one.x + one.width <= other.x || other.x + other.width <= one.x
          const apart = one.y + one.height <= other.y || other.y + other.height <= one.y
          expect(beside || apart, `${name}: ${one.step.path} and ${other.step.path}`).to.equal(true)
        }
    }
  })

  it('has each step within the frame around it, and everything within the picture', () => {
    for (const { name, ...plan } of pipelines) {
      const { boxes, arrows, height, times } = layout(plan)
      const frames = boxes.filter(({ kind }) => kind === 'use' || kind === 'attempt')
      for (const box of boxes) {
        expect(box.x + box.width, `${name}: ${box.step.path}`).to.be.at.most(times)
        expect(box.y + box.height).to.be.at.most(height)
        for (const frame of frames.filter(({ step }) => box.step.path.startsWith(`${step.path}/`))) {
          const inside = box.x > frame.x && box.x + box.width < frame.x + frame.width
          expect(inside && box.y > frame.y, `${name}: ${box.step.path} in ${frame.step.path}`).to.equal(true)
          expect(box.y + box.height, name).to.be.lessThan(frame.y + frame.height)
        }
      }
      for (const { from, to } of arrows) expect(from).to.be.at.least(to)
    }
  })

  it('has a thread for every slot that a stage needs, in a lane of its own', () => {
    for (const { name, ...plan } of pipelines) {
      const { boxes, threads, hidden } = layout(plan)
      // Only this one needs eight slots at once.
      expect(hidden, name).to.deep.equal(name === 'responses' ? ['shortlist'] : [])
      for (const { kind, step } of boxes)
        for (const slot of kind === 'stage' ? (step.needs ?? []) : []) {
          if (hidden.includes(slot)) continue
          const thread = threads.find((one) => one.slot === slot)
          const mark = thread?.marks.find(({ path, does }) => path === step.path && does === 'needs')
          expect(mark, `${name}: ${step.path} needs ${slot}`).to.not.equal(undefined)
        }
      for (const [index, one] of threads.entries()) {
        expect(one.lane).to.be.within(0, lanes.count - 1)
        for (const other of threads.slice(index + 1))
          if (one.lane === other.lane)
            expect(one.read < other.from || other.read < one.from, `${name}: ${one.slot}, ${other.slot}`).to.equal(true)
      }
    }
  })

  it('sums what a folded pipeline needs and gives', () => {
    const chat = pipelines.find(({ name }) => name === 'chat-completions')
    if (!chat) throw new Error('there is no chat-completions')
    const { boxes, threads, arrows } = layout(chat, new Set(['generate']))
    const folded = boxes.find(({ kind }) => kind === 'folded')
    expect(folded?.step.path).to.equal('generate')
    expect(boxes.some(({ step }) => step.path.startsWith('generate/'))).to.equal(false)
    expect(arrows).to.deep.equal([])
    const needs = threads.filter(({ marks }) => marks.some(({ path, does }) => path === 'generate' && does === 'needs'))
    expect(needs.map(({ slot }) => slot)).to.include.members(['request', 'candidates'])
  })
})
