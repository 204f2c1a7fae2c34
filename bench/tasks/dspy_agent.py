"""DSPy's agents on the tasks: an order a line on standard input, an answer a line on standard output.

The tools run in the process that counts, so that they are the same for everybody: `tools.json` has
their names, descriptions and schemas, and each call is one request.
"""

import json
import os
import pathlib
import sys
import urllib.request

import dspy

SPECS = json.loads((pathlib.Path(__file__).parent / "tools.json").read_text())


def remote(url, spec):
    def call(**args):
        request = urllib.request.Request(
            f"{url}/tools/{spec['name']}",
            data=json.dumps(args).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            answer = json.load(reply)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["result"]

    properties = spec["parameters"].get("properties", {})
    types = {"string": str, "number": float}
    return dspy.Tool(
        call,
        name=spec["name"],
        desc=spec["description"],
        args=properties,
        arg_types={name: types[schema["type"]] for name, schema in properties.items()},
    )


class Lm(dspy.LM):
    """A model that calls tools and keeps to a schema: DSPy does not know that of one without a known name."""

    supports_function_calling = True
    supports_response_schema = True


def solve(module, order):
    lm = Lm(
        f"openai/{order['model']}",
        api_base=f"{order['url']}/v1",
        api_key="none",
        temperature=0.0,
        max_tokens=order["max_tokens"],
        cache=False,
        timeout=600,
    )
    signature = dspy.Signature("question -> answer", order["instructions"])
    tools = [remote(order["url"], spec) for spec in SPECS]
    kind = dspy.ReAct if module == "react" else dspy.ReActV2
    adapter = dspy.ChatAdapter(use_native_function_calling=module == "react-v2-native")
    agent = kind(signature, tools=tools, max_iters=order["max_iterations"])
    with dspy.context(lm=lm, adapter=adapter):
        prediction = agent(question=order["question"])
    if module == "react":
        names = [value for key, value in prediction.trajectory.items() if key.startswith("tool_name_")]
        ended = "finish" if names and names[-1] == "finish" else "max_iterations"
        steps = len(names)
    else:
        ended = prediction.termination_reason
        steps = sum("tool_calls" in event for event in prediction.history.messages)
    return {"answer": str(prediction.answer), "steps": steps, "termination": str(ended), "error": None}


def main():
    module = sys.argv[1]
    # What libraries print must not mix with the answers.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = solve(module, json.loads(line))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            answer = {"answer": "", "steps": 0, "termination": "error", "error": text[:500]}
        out.write(json.dumps(answer) + "\n")


main()
