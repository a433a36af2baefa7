import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import guard from './guard.ts'
import guardRecord from './guard-record.ts'
import guards from './guards.ts'
import length from './length.ts'
import listGuardFigures from './list-guard-figures.ts'
import listGuardKinds from './list-guard-kinds.ts'
import listGuardVerdicts from './list-guard-verdicts.ts'
import model from './model.ts'
import moderation from './moderation.ts'
import pii from './pii.ts'
import regex from './regex.ts'
import schema from './schema.ts'
import secrets from './secrets.ts'
import testGuard from './test-guard.ts'
import webhook from './webhook.ts'
import words from './words.ts'

export default definePlugin({
  name: 'guards',
  summary: 'Guards, which judge requests and answers.',
  errors,
  records: [guardRecord],
  guards: [words, regex, pii, secrets, schema, length, moderation, webhook, model],
  services: [guards],
  stages: [guard],
  actions: [listGuardFigures, listGuardKinds, listGuardVerdicts, testGuard],
})
