/** What has a budget or a rate limit. */
export interface Bucket {
  readonly kind: 'key' | 'member' | 'server'
  /** Id of the key or the member; of the server: any text. */
  readonly id: string
}

/** The name of the bucket of the whole gateway. */
export const server = 'server'

/** The name of a bucket in stores and tables. */
export function nameOf({ kind, id }: Bucket): string {
  return kind === 'server' ? server : `${kind}:${id}`
}
