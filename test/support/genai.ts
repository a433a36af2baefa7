import { GoogleGenAI } from '@google/genai'
import type { RunningGateway } from './gateway.ts'

/** Google's official client. It does not try again. */
export function genai({ url, key }: Pick<RunningGateway, 'url' | 'key'>, apiVersion?: 'v1' | 'v1beta'): GoogleGenAI {
  const version = apiVersion === undefined ? {} : { apiVersion }
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url, ...version } })
}
