import type { PrintTarget } from '../../../engine/index.ts'

/**
 * Whose model it is, as far as requests differ: `claude` and `nova` have fields of their own, `openai` an effort. An
 * unknown model, such as the profile of an application, counts as `claude`, which takes the most.
 */
export type Family = 'claude' | 'nova' | 'openai' | 'other'

/** Vendors in the names of models, which begin with them or follow the region: `meta.llama3-…`, `us.deepseek.r1-v1:0`. */
const others =
  /(^|[./])(amazon\.titan-|(ai21|cohere|deepseek|google|luma|meta|minimax|mistral|moonshot|moonshotai|nvidia|qwen|stability|twelvelabs|writer|zai)\.)/

export function familyOf({ model }: Pick<PrintTarget, 'model'>): Family {
  if (/(^|[./])amazon\.nova-/.test(model)) return 'nova'
  if (/(^|[./])openai\./.test(model)) return 'openai'
  return others.test(model) ? 'other' : 'claude'
}
