"""L1-regularised logistic regression, the hyperplane of a tree node.

Minimises  ||w||_1 + sum_i cost_i log(1 + exp(-side_i w.x_i))  by proximal Newton steps (newGLMNET; Yuan, Ho and Lin,
2012): coordinate descent on the quadratic model, then a backtracking step. A forest fits a hundred thousand tiny
problems, so it is one compiled function without calls into Python; it agrees with liblinear's solver 6.
"""

from __future__ import annotations

import numpy as np
from numba import njit

MOST_NEWTON_STEPS = 100
MOST_PASSES = 200  # over the coordinates, within one Newton step
MOST_HALVINGS = 20
SUFFICIENT_DECREASE = 0.01
DAMPING = 1e-12  # keeps the curvature of a feature positive when every row is classified with certainty


@njit(cache=True, nogil=True)
def fit_l1_logistic(
    start: np.ndarray, row: np.ndarray, value: np.ndarray, side: np.ndarray, cost: np.ndarray, tolerance: float
) -> np.ndarray:
    """Weights of the features of a CSC matrix (start, row, value) for rows with side +1 or -1.

    Stops when the violation of optimality falls below `tolerance` times that at w = 0. Uses numba's random state.
    """
    n_features, n_rows = len(start) - 1, len(side)
    w, step = np.zeros(n_features), np.zeros(n_features)
    gradient, curvature = np.zeros(n_features), np.zeros(n_features)
    score, score_step = np.zeros(n_rows), np.zeros(n_rows)
    slope, bend = np.empty(n_rows), np.empty(n_rows)  # first and second derivative of each row's loss
    order = np.arange(n_features)
    free = n_features  # order[:free] can move; the rest are zeros that look settled
    settled_below = np.inf
    first_violation, pass_tolerance = 0.0, 1.0

    for newton in range(MOST_NEWTON_STEPS):
        for i in range(n_rows):
            p = 1.0 / (1.0 + np.exp(-score[i]))
            slope[i] = cost[i] * (p - (1.0 if side[i] > 0 else 0.0))
            bend[i] = cost[i] * p * (1.0 - p)

        violation, worst, at = 0.0, 0.0, 0
        while at < free:
            j = order[at]
            g, h = 0.0, DAMPING
            for e in range(start[j], start[j + 1]):
                g += slope[row[e]] * value[e]
                h += bend[row[e]] * value[e] * value[e]
            gradient[j], curvature[j] = g, h
            if w[j] == 0 and abs(g) < 1 - settled_below:
                free -= 1
                order[at], order[free] = order[free], order[at]
                continue
            v = _violation(g, w[j])
            violation += v
            worst = max(worst, v)
            at += 1

        if newton == 0:
            first_violation = violation
        if violation <= tolerance * first_violation:
            if free == n_features:
                break
            free, settled_below = n_features, np.inf  # look at the settled ones again before stopping
            continue
        settled_below = worst / n_rows

        passes = _descend(
            start, row, value, w, gradient, curvature, bend, order[:free], pass_tolerance * violation, step, score_step
        )
        if passes == 1:
            pass_tolerance *= 0.25
        if not _move(side, cost, gradient, order[:free], w, step, score, score_step):
            if free == n_features:
                break
            free, settled_below = n_features, np.inf  # those that move can gain no more; the settled ones may
    return w


@njit(cache=True, nogil=True)
def _violation(gradient: float, weight: float) -> float:
    """Distance of 0 from the sub-gradient of the objective along one coordinate."""
    if weight > 0:
        return abs(gradient + 1)
    if weight < 0:
        return abs(gradient - 1)
    return max(0.0, abs(gradient) - 1)


@njit(cache=True, nogil=True)
def _descend(start, row, value, w, gradient, curvature, bend, free, enough, step, score_step) -> int:
    """Coordinate descent on the quadratic model around w; leaves step and X step, returns the number of passes."""
    step[free] = 0.0
    score_step[:] = 0.0
    for done in range(1, MOST_PASSES + 1):
        np.random.shuffle(free)
        violation = 0.0
        for j in free:
            g = gradient[j] + DAMPING * step[j]
            for e in range(start[j], start[j + 1]):
                g += bend[row[e]] * score_step[row[e]] * value[e]
            here = w[j] + step[j]
            violation += _violation(g, here)
            target = here - g / curvature[j]
            shrunk = np.sign(target) * max(0.0, abs(target) - 1.0 / curvature[j])
            change = shrunk - here
            # A weight that is all but 0 must become 0: left so, it is a violation that no step is long enough for.
            if change == 0 or (abs(change) < 1e-12 and shrunk != 0):
                continue
            step[j] = shrunk - w[j]
            for e in range(start[j], start[j + 1]):
                score_step[row[e]] += change * value[e]
        if violation <= enough:
            return done
    return MOST_PASSES


@njit(cache=True, nogil=True)
def _move(side, cost, gradient, free, w, step, score, score_step) -> bool:
    """Go along the step, halved until the objective falls enough; False if no length will do."""
    promised, norm_before = 0.0, 0.0
    for j in free:
        promised += gradient[j] * step[j] + abs(w[j] + step[j]) - abs(w[j])
        norm_before += abs(w[j])
    loss_before = _loss(side, cost, score, score_step, 0.0)
    length = 1.0
    for _ in range(MOST_HALVINGS):
        norm = 0.0
        for j in free:
            norm += abs(w[j] + length * step[j])
        change = norm - norm_before + _loss(side, cost, score, score_step, length) - loss_before
        if change <= SUFFICIENT_DECREASE * length * promised:
            for j in free:
                w[j] += length * step[j]
            for i in range(len(score)):
                score[i] += length * score_step[i]
            return True
        length *= 0.5
    return False


@njit(cache=True, nogil=True)
def _loss(side, cost, score, score_step, length) -> float:
    total = 0.0
    for i in range(len(score)):
        margin = side[i] * (score[i] + length * score_step[i])
        # log(1 + exp(-margin)) without overflow
        total += cost[i] * (np.log1p(np.exp(-abs(margin))) + max(0.0, -margin))
    return total
