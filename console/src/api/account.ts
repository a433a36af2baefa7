import { ask } from './ask.ts'
import { forgetSession, holdSession } from './session.ts'
import type { Session } from './session.ts'
import type { Answers } from './answers.ts'

export interface Credentials {
  readonly username: string
  readonly password: string
}

export const isSetupNeeded = async () => (await ask<Answers['show-setup']>('GET', '/api/auth/setup-status')).needed

export async function signIn(credentials: Credentials): Promise<void> {
  holdSession(await ask<Session>('POST', '/api/auth/login', { body: credentials }))
}

export async function setUp(token: string, credentials: Credentials): Promise<void> {
  holdSession(await ask<Session>('POST', '/api/auth/setup', { body: { token, ...credentials } }))
}

export async function changePassword(current: string, next: string): Promise<void> {
  const body = { current_password: current, new_password: next }
  holdSession(await ask<Session>('POST', '/api/me/password', { body }))
}

export async function renewSession(): Promise<void> {
  holdSession(await ask<Session>('POST', '/api/auth/renew'))
}

/** Ends the session here whether or not the gateway hears of it. */
export async function signOut(how: { readonly everywhere?: boolean } = {}): Promise<void> {
  await ask('POST', '/api/auth/logout', { body: how }).finally(forgetSession)
}
