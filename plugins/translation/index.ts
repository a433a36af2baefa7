import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import call from './call.ts'
import fileUrls from './files/file-urls.ts'
import inlineFiles from './inline-files.ts'
import parse from './parse.ts'
import requestPolicy from './request-policy.ts'
import translateBack from './translate-back.ts'
import translate from './translate.ts'
import validate from './validate.ts'
import webSearch from './web-search.ts'

export default definePlugin({
  name: 'translation',
  summary: 'The stages that translate between a client and a provider.',
  stability: 'stable',
  errors,
  stages: [parse, validate, inlineFiles, translate, call, translateBack],
  services: [webSearch, requestPolicy, fileUrls],
})
