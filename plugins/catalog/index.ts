import { definePlugin } from '../../engine/index.ts'
import changeRecord from '../records/change-record.ts'
import changeSection from '../records/change-section.ts'
import createRecord from '../records/create-record.ts'
import deleteRecord from '../records/delete-record.ts'
import getRecord from '../records/get-record.ts'
import getSection from '../records/get-section.ts'
import listRecord from '../records/list-record.ts'
import listSection from '../records/list-section.ts'
import model from './model.ts'
import provider from './provider.ts'
import resetSection from '../records/reset-section.ts'

export default definePlugin({
  name: 'catalog',
  summary:
    'The models that clients can name, the providers that serve them, and what shows and changes records and settings.',
  records: [provider, model],
  stages: [
    listRecord,
    getRecord,
    createRecord,
    changeRecord,
    deleteRecord,
    listSection,
    getSection,
    changeSection,
    resetSection,
  ],
})
