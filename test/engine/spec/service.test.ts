import { expect } from 'chai'
import { defineService, defineStage, noConfig } from '../../../engine/index.ts'

declare module '../../../engine/index.ts' {
  interface Services {
    test_clock: { now(): number }
    test_zone: { readonly zone: string }
  }
}

const settings = {
  type: 'object',
  additionalProperties: false,
  properties: { zone: { type: 'string', default: 'UTC', description: 'The zone.' } },
} as const

describe('defineService', () => {
  it('types views by declaration merging, and settings by the schema', () => {
    const zone = defineService({ name: 'test_zone', summary: 'Where.', settings })
    const clock = defineService({
      name: 'test_clock',
      summary: 'When.',
      section: 'times',
      settings,
      uses: ['test_zone'],
      check: (own, report) => own.zone === '' && report(['zone'], 'is empty'),
      open: () => ({
        configure: (own, views) => ({ view: { now: () => own.zone.length + views.test_zone.zone.length } }),
      }),
    })
    expect([zone.section, zone.uses, 'open' in zone]).to.deep.equal(['test_zone', [], false])
    expect([clock.section, clock.uses]).to.deep.equal(['times', ['test_zone']])
    const stage = defineStage({
      name: 'tell',
      summary: 'Tells the time.',
      config: noConfig,
      needs: [],
      provides: [],
      uses: ['test_clock'],
      // @ts-expect-error a view has only what was declared of it
      build: (_, __, services) => () => ({ then: services.test_clock.then }),
    })
    expect(stage.uses).to.deep.equal(['test_clock'])
  })

  it('refuses, when it is compiled, a name that nothing declares and settings that are no view', () => {
    // @ts-expect-error nothing declares this name
    defineService({ name: 'test_nothing', summary: 'Nothing.', settings })
    // @ts-expect-error its settings have no `now`, so it must be opened
    defineService({ name: 'test_clock', summary: 'When.', settings })
    defineStage({
      name: 'tell',
      summary: 'Tells the time.',
      config: noConfig,
      needs: [],
      provides: [],
      // @ts-expect-error nothing declares this name
      uses: ['test_nothing'],
      build: () => () => ({}),
    })
  })
})
