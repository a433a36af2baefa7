import { definePlugin } from '../../engine/index.ts'
import errors from './error-codes.ts'
import changeMember from './change-member.ts'
import changeOwnPassword from './change-own-password.ts'
import changeOwnTracing from './change-own-tracing.ts'
import changeOwnUsername from './change-own-username.ts'
import createMember from './create-member.ts'
import deleteMember from './delete-member.ts'
import getMember from './get-member.ts'
import listMember from './list-member.ts'
import memberCreate from './member-create.ts'
import memberList from './member-list.ts'
import memberResetPassword from './member-reset-password.ts'
import memberSessions from './member-sessions.ts'
import members from './members.ts'
import renewSession from './renew-session.ts'
import resetMemberBudget from './reset-member-budget.ts'
import resetMemberPassword from './reset-member-password.ts'
import setUp from './set-up.ts'
import showAccount from './show-account.ts'
import showOwnBudget from './show-own-budget.ts'
import showOwnTracing from './show-own-tracing.ts'
import showSetup from './show-setup.ts'
import signIn from './sign-in.ts'
import signOut from './sign-out.ts'
import team from './team.ts'
import tokenCreate from './token-create.ts'

export default definePlugin({
  name: 'members',
  summary: 'The people who may sign in, their sessions and their accounts.',
  stability: 'stable',
  errors,
  services: [members, memberSessions, team],
  actions: [
    showSetup,
    setUp,
    signIn,
    renewSession,
    signOut,
    listMember,
    getMember,
    createMember,
    changeMember,
    deleteMember,
    resetMemberPassword,
    resetMemberBudget,
    showAccount,
    changeOwnPassword,
    changeOwnUsername,
    showOwnBudget,
    showOwnTracing,
    changeOwnTracing,
  ],
  commands: [memberList, memberCreate, memberResetPassword, tokenCreate],
})
