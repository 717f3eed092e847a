// A chat front-end as others write it: @ag-ui/client asks a question, then answers what is asked in its turn.
// Arguments: the client's module, the address, a token, a thread, and JSON: {question, payloads, state}.
// Prints a line of JSON for each run: the messages, the state and what is pending after it, and the types of its events.
const [module, url, token, threadId, given] = process.argv.slice(2);
const { HttpAgent, buildResumeArray } = await import(module);
const { question, payloads, state } = JSON.parse(given);

const agent = new HttpAgent({
  url, threadId, headers: { Authorization: `Bearer ${token}` }, initialState: state,
  initialMessages: [{ id: "first", role: "user", content: question }],
});

const run = async (parameters) => {
  const types = [], outcomes = [];
  let failed = null;
  try {
    await agent.runAgent(parameters, {
      onEvent: ({ event }) => { types.push(event.type); },
      onRunFinishedEvent: ({ outcome }) => { outcomes.push(outcome); },
    });
  } catch (error) {
    failed = String(error.message);
  }
  const { messages, state, pendingInterrupts } = agent;
  console.log(JSON.stringify({ messages, state, pendingInterrupts, types, outcomes, failed }));
};

await run({});
for (const payload of payloads) {
  const responses = Object.fromEntries(agent.pendingInterrupts.map(
    ({ id }) => [id, payload === null ? { status: "cancelled" } : { status: "resolved", payload }]));
  await run({ resume: buildResumeArray(agent.pendingInterrupts, responses) });
}
